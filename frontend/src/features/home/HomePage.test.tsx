// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { aRow } from "../../testing/runs.ts";
import { show } from "../../testing/show.tsx";
import { isDismissed } from "./checklist.ts";
import { HomePage } from "./HomePage.tsx";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

const NONE = { nodes: [], pageInfo: { hasNextPage: false } };
const HOME = { attention: { ...NONE, nodes: [aRow({ state: "FAILED" })] }, now: NONE, recent: NONE };

let answer: (known: object) => void;

test("Home does not wait for the checklist, and keeps its space free", async () => {
  const Checklist = new Promise((resolve) => (answer = resolve));
  await show(<HomePage ask={<p>Ask here</p>} />, { Home: HOME, Checklist });

  expect(await screen.findByText("Ask here")).toBeVisible();
  expect(screen.getByRole("heading", { name: "Needs attention" })).toBeVisible();
  const space = screen.getByText("Connect an agent").closest("section");
  expect(space).toHaveClass("invisible");

  answer({ byAgent: { nodes: [{ id: "run_1" }] }, mine: { nodes: [] }, modelRoles: [] });
  await waitFor(() => expect(space).not.toHaveClass("invisible"));
  expect(screen.getByText(/· done/)).toBeVisible();
});

test("a dismissed checklist is neither shown nor asked for again, and one that fails leaves no gap", async () => {
  const known = { byAgent: { nodes: [] }, mine: { nodes: [] }, modelRoles: [] };
  await show(<HomePage ask={null} />, { Home: HOME, Checklist: known });
  await userEvent.click(await screen.findByRole("button", { name: "Dismiss" }));
  expect(screen.queryByText("Connect an agent")).toBeNull();
  expect(isDismissed()).toBe(true);
  cleanup();

  const { asked } = await show(<HomePage ask={null} />, { Home: HOME, Checklist: known });
  await screen.findByRole("heading", { name: "Needs attention" });
  expect(asked.map(({ name }) => name)).not.toContain("Checklist");
  cleanup();

  localStorage.clear();
  await show(<HomePage ask={null} />, { Home: HOME, Checklist: new Error("gone") });
  await screen.findByRole("heading", { name: "Needs attention" });
  await waitFor(() => expect(screen.queryByText("Connect an agent")).toBeNull());
});
