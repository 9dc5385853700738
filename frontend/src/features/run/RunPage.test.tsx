// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { aFailedRun, AT } from "../../testing/runs.ts";
import { show } from "../../testing/show.tsx";
import { RunPage } from "./RunPage.tsx";
import { runSearch } from "./search.ts";

afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

/** Shows a failed run; resolves to whether its tabs were scrolled to. */
async function opened(search: string): Promise<boolean> {
  const scrolled = vi.spyOn(Element.prototype, "scrollIntoView").mockReturnValue();
  const log = { nodes: [], totalCount: 0, pageInfo: { endCursor: null, hasNextPage: false } };
  await show(
    <RunPage />,
    {
      RunPage: { server: { now: AT }, run: aFailedRun() },
      RunEvents: { runEvents: { __typename: "RunEventsEnd", cursor: "cursor" } },
      AttemptLog: { node: { __typename: "Attempt", id: "att_render", log } },
    },
    { path: "/runs/$run", at: `/runs/run_1${search}`, search: runSearch },
  );
  const tabs = await screen.findByRole("tablist", { name: "Of the step" });
  return scrolled.mock.contexts.some((element) => element instanceof Element && element.contains(tabs));
}

test("an address that names a tab or a line leads to the tabs of a failed run, and no other does", async () => {
  expect(await opened("?tab=log")).toBe(true);
  cleanup();
  expect(await opened("?line=3")).toBe(true);
  cleanup();
  vi.restoreAllMocks();
  expect(await opened("?step=render")).toBe(false);
});
