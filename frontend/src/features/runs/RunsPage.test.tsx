// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { aFailure, aRow } from "../../testing/runs.ts";
import { type Answers, show } from "../../testing/show.tsx";
import { rememberOpened } from "../../lib/browser/openedAddress.ts";
import { runsSearch } from "./filter.ts";
import { RunsPage } from "./RunsPage.tsx";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

const ROWS = [
  aRow({
    id: "run_1",
    title: "Tea deck",
    state: "FAILED",
    actions: ["RESUME", "RERUN", "ACKNOWLEDGE"],
    failure: aFailure(),
  }),
  aRow({ id: "run_2", title: "Coffee deck", actions: ["RERUN"] }),
  aRow({ id: "run_3", title: "Milk deck", state: "RUNNING", actions: ["CANCEL"] }),
];

function planOf(id: string) {
  const row = ROWS.find((one) => one.id === id);
  const resumePreview = {
    allowed: true,
    issues: [],
    steps: [{ key: "render", action: "RUN", effects: "EXTERNAL", mayRepeatEffects: false }],
  };
  return {
    run: {
      id,
      title: row?.title,
      state: row?.state,
      actions: row?.actions,
      acknowledgedAt: null,
      resumePreview,
      rerunPreview: resumePreview,
    },
    runs: { nodes: [] },
  };
}

async function page(at = "/runs", answers: Answers = {}) {
  const shown = await show(
    <RunsPage />,
    {
      Runs: {
        runs: {
          nodes: ROWS,
          totalCount: 3,
          pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
        },
      },
      RunFilters: {
        viewer: { id: "caller_1", name: "Ada", scopes: ["READ", "RUN"] },
        pipelines: { nodes: [{ id: "pipe_1", key: "deck", name: "Deck" }] },
      },
      BulkPlan: ({ id }: { id: string }) => planOf(id),
      BulkResume: ({ id }: { id: string }) => ({
        resumeRun: { __typename: "RunSuccess", run: ROWS.find((one) => one.id === id) },
      }),
      ...answers,
    },
    { path: "/runs", at, search: runsSearch },
  );
  await screen.findByRole("heading", { name: "Runs" });
  return shown;
}

test("the number of matching runs is shown, and what the list ignores of the address is named", async () => {
  rememberOpened({ pathname: "/runs", search: "?status=BROKEN&colour=red&view=mine" });
  await page("/runs?view=mine");
  expect(await screen.findByText("3 runs")).toBeVisible();
  expect(screen.getByText(/has no value/)).toHaveTextContent("The filter status has no value BROKEN.");
  expect(screen.getByText(/has no filter/)).toHaveTextContent("This list has no filter colour.");
  expect(screen.getByText(/has no view/)).toHaveTextContent("This browser has no view mine.");
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  await waitFor(() => expect(screen.queryByText(/has no filter/)).toBeNull());
});

test("a filter is in the address and in the query, and its chip removes it", async () => {
  const { asked, history } = await page();
  await userEvent.selectOptions(await screen.findByRole("combobox", { name: "State" }), "Failed");
  await waitFor(() => expect(history.location.search).toContain("status=FAILED"));
  await waitFor(() =>
    expect(asked.filter(({ name }) => name === "Runs").at(-1)?.variables).toMatchObject({
      filter: { states: ["FAILED"] },
    }),
  );
  await userEvent.click(screen.getByRole("button", { name: "Remove filter: Failed" }));
  await waitFor(() => expect(history.location.search).not.toContain("status"));
});

test("an address with filters shows them as set", async () => {
  await page("/runs?status=FAILED&pipeline=deck&cause=AGENT");
  expect(await screen.findByRole("combobox", { name: "State" })).toHaveDisplayValue("Failed");
  await waitFor(() => expect(screen.getByRole("combobox", { name: "Pipeline" })).toHaveDisplayValue("Deck"));
  const chips = screen.getByRole("list", { name: "Active filters" });
  expect(within(chips).getByText("started by an agent")).toBeVisible();
  await userEvent.click(within(chips).getByRole("button", { name: "Clear" }));
  await waitFor(() => expect(screen.queryByRole("list", { name: "Active filters" })).toBeNull());
});

test("words that are searched for are asked once somebody pauses", async () => {
  const { history } = await page();
  await userEvent.type(screen.getByRole("searchbox", { name: "Search runs" }), "tea");
  await waitFor(() => expect(history.location.search).toContain("q=tea"));
});

const NONE = {
  Runs: {
    runs: { nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null } },
  },
};

test("filters that nothing fits lead back to all runs", async () => {
  const { history } = await page("/runs?status=CANCELLED", NONE);
  expect(await screen.findByText("No run is cancelled.")).toBeVisible();
  await userEvent.click(screen.getByRole("link", { name: "All runs" }));
  await waitFor(() => expect(history.location.search).toBe(""));
});

test("a server without runs says what a run is and how to start one", async () => {
  await page("/runs", NONE);
  expect(await screen.findByText(/^There are no runs yet. A run executes a pipeline/)).toBeVisible();
  expect(screen.getByRole("link", { name: "Choose a pipeline to run" })).toHaveAttribute("href", "/pipelines");
  expect(screen.getByText("packline run sample")).toBeVisible();
  expect(screen.getByRole("button", { name: "Copy command" })).toBeVisible();
});

test("a server that is gone is said, and no list is shown as empty", async () => {
  await page("/runs", { Runs: new Error("gone") });
  expect(await screen.findByText(/cannot be reached|did not answer|gone/i)).toBeVisible();
  expect(screen.queryByRole("table")).toBeNull();
});

test("picked runs are counted, compared in twos, and let go", async () => {
  await page();
  await userEvent.click(await screen.findByRole("checkbox", { name: "Select Tea deck" }));
  const bar = screen.getByRole("region", { name: "Selected runs" });
  expect(within(bar).getByRole("status")).toHaveTextContent("1 selected");
  expect(within(bar).queryByRole("link", { name: "Compare" })).toBeNull();
  expect(within(bar).getByText("To compare, select two runs")).toBeVisible();
  await userEvent.click(screen.getByRole("checkbox", { name: "Select Coffee deck" }));
  expect(within(bar).getByRole("link", { name: "Compare" })).toHaveAttribute("href", "/runs/compare?a=run_2&b=run_1");
  await userEvent.click(screen.getByRole("checkbox", { name: "Select Milk deck" }));
  expect(within(bar).queryByRole("link", { name: "Compare" })).toBeNull();
  expect(within(bar).getByText("To compare, select two runs")).toBeVisible();
  await userEvent.click(within(bar).getByRole("button", { name: "Clear selection" }));
  expect(screen.queryByRole("region", { name: "Selected runs" })).toBeNull();
});

test("the number of selected runs says how many of them a row of similar ones stands for", async () => {
  const nodes = [...ROWS, ...["run_4", "run_5"].map((id) => ({ ...ROWS[0], id, title: `Tea deck ${id}` }))];
  const pageInfo = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
  await page("/runs", { Runs: { runs: { nodes, totalCount: 5, pageInfo } } });
  await userEvent.click(await screen.findByRole("checkbox", { name: "Select Coffee deck" }));
  const bar = screen.getByRole("region", { name: "Selected runs" });
  expect(within(bar).getByRole("status")).toHaveTextContent(/^1 selected$/);
  await userEvent.click(screen.getByRole("checkbox", { name: "Select 3 runs that failed like Tea deck" }));
  expect(within(bar).getByRole("status")).toHaveTextContent("4 selected, including 2 similar");
});

test("an act on many says first what it would do with each, then how each went", async () => {
  const { asked } = await page();
  await userEvent.click(await screen.findByRole("checkbox", { name: "Select all on this page" }));
  await userEvent.click(screen.getByRole("button", { name: "Resume…" }));
  const dialog = await screen.findByRole("dialog", { name: "Resume 3 runs" });
  expect(
    await within(dialog).findByText("3 runs selected: 1 resumes, 1 changes an external system, 2 cannot."),
  ).toBeVisible();
  expect(within(dialog).getByRole("list", { name: "Not changed" })).toHaveTextContent("Coffee deck");
  expect(asked.some(({ name }) => name === "BulkResume")).toBe(false);
  await userEvent.click(within(dialog).getByRole("button", { name: "Resume 1 run" }));
  expect(await screen.findByRole("dialog", { name: "Resumed: 1 of 1 run" })).toBeVisible();
  expect(asked.filter(({ name }) => name === "BulkResume").map(({ variables }) => variables)).toEqual([
    { id: "run_1" },
  ]);
});
