// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { NewPipelinePage } from "./EditorPage.tsx";
import { newSearch } from "./search.ts";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

async function proposed(name: string) {
  await show(
    <NewPipelinePage />,
    { EditorPacks: { nodes: [] }, EditorCheck: { checkPipeline: { issues: [], inputSchema: {} } } },
    { path: "/pipelines/new", at: `/pipelines/new?name=${name}&packs=web.scrape`, search: newSearch },
  );
  return await screen.findByLabelText("Name");
}

test("proposals with the same packs and different names do not share a draft", async () => {
  await userEvent.type(await proposed("flight"), " of mine");
  cleanup();

  expect(await proposed("train")).toHaveValue("train");
  expect(screen.queryByText(/Your unsaved changes/)).toBeNull();
  cleanup();

  expect(await proposed("flight")).toHaveValue("flight of mine");
  expect(screen.getByText(/Your unsaved changes/)).toBeVisible();
});
