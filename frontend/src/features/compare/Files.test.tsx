// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, within } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import type { ComparedFileFragment } from "./compare.generated.ts";
import { Files } from "./Files.tsx";

afterEach(cleanup);

function file(id: string, name: string, mediaType: string): ComparedFileFragment {
  return { id, name, mediaType, sizeBytes: 9, digest: id };
}

function text(of: string) {
  return { text: of, nextOffset: null };
}

async function compare(mediaType: string, before: string, after: string) {
  const [a, b] = [file("art_a", "tea", mediaType), file("art_b", "tea", mediaType)];
  await show(<Files pairs={[{ key: "tea", a, b }]} />, { ComparedTexts: { a: text(before), b: text(after) } });
}

test.each([
  ["text/csv; header=present", ","],
  ["text/tab-separated-values", "\t"],
])("files of the type %s are compared as tables, with what differs said and tinted", async (mediaType, tab) => {
  const rows = (price: string) => `leaf${tab}price\ngreen${tab}${price}\nblack${tab}2\n`;
  await compare(mediaType, rows("3"), rows("4"));
  for (const [of, price] of [
    ["first", "3"],
    ["second", "4"],
  ] as const) {
    const table = await screen.findByRole("region", { name: `tea of the ${of} run` });
    expect(within(table).getAllByRole("columnheader")).toHaveLength(2);
    const cells = within(table).getAllByRole("cell");
    expect(cells.map(({ textContent }) => textContent)).toEqual(["green", `differs: ${price}`, "black", "2"]);
    expect(cells[1]).toHaveClass(of === "first" ? "bg-fail-tint" : "bg-ok-tint");
  }
});

test("texts are compared line by line", async () => {
  await compare("text/plain", "green\n", "black\n");
  expect(await screen.findByRole("region", { name: /^What differs between tea/ })).toBeVisible();
  expect(screen.queryByRole("table", { name: /of the first run$/ })).toBeNull();
});
