// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { inputSearch } from "../../domain/start/inputSearch.ts";
import { show } from "../../testing/show.tsx";
import { RunFormPage } from "./RunFormPage.tsx";

afterEach(cleanup);

const PIPELINE = {
  id: "p1",
  key: "slow3",
  name: "Slow",
  description: "Takes its time.",
  metadata: { typicalUse: null, accepts: [], produces: [], limitations: [], practice: false, derived: [] },
  availability: { usable: true, missing: [] },
  steps: [],
  inputSchema: { type: "object", properties: { title: { type: "string" } } },
};

function shown(at: string) {
  const place = { path: "/pipelines/$pipeline/run", at, search: inputSearch };
  return show(
    <RunFormPage />,
    { PipelinePage: { pipeline: PIPELINE }, Learned: { myDefaults: { packs: [], pipelines: [] } } },
    place,
  );
}

test.each(["?seconds=abc", "?url=http%3A%2F%2Fx&utm_source=mail"])(
  "parameters that name no input are left alone: %s",
  async (search) => {
    const { history } = await shown(`/pipelines/slow3/run${search}`);
    const field = await screen.findByRole("textbox", { name: /title/i });
    expect(screen.queryByText(/There is no input/)).toBeNull();
    await userEvent.type(field, "Tea");
    await waitFor(() => expect(new URLSearchParams(history.location.search).get("input.title")).toBe("Tea"));
    const kept = new URLSearchParams(history.location.search);
    for (const [name, value] of new URLSearchParams(search)) expect(kept.get(name)).toBe(value);
    expect([...kept.keys()].filter((name) => name.startsWith("input."))).toEqual(["input.title"]);
  },
);
