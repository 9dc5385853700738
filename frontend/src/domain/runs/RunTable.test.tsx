// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { aFailure, aRow, AT } from "../../testing/runs.ts";
import { show } from "../../testing/show.tsx";
import { when } from "../../lib/text/format.ts";
import { RunTable } from "./RunTable.tsx";

afterEach(cleanup);

const FAILED = aRow({ id: "run_2", title: "Broken deck", state: "FAILED", cause: "AGENT", failure: aFailure() });
const RUNNING = aRow({
  id: "run_3",
  title: "Deck in the making",
  state: "RUNNING",
  currentStep: { id: "step_1", key: "draw_slides", state: "RUNNING" },
});
const RESUMED = aRow({
  id: "run_4",
  title: "Mended deck",
  resumeCount: 2,
  cost: { amountUsd: 0.04, usage: { input: 1, output: 1 } },
});

test("each row says in words how the run stands and why, and leads to it", async () => {
  await show(<RunTable label="Runs" runs={[FAILED, RUNNING, RESUMED]} />);
  await screen.findByRole("table", { name: "Runs" });
  const [broken, running, resumed] = screen.getAllByRole("row").slice(1) as [HTMLElement, HTMLElement, HTMLElement];
  expect(within(broken).getByText("Failed")).toBeVisible();
  expect(within(broken).getByText("Render: The service does not answer.")).toBeVisible();
  expect(within(broken).getByText("an agent,")).toBeInTheDocument();
  expect(within(broken).getByRole("link", { name: "Broken deck" })).toHaveAttribute("href", "/runs/run_2");
  expect(within(running).getByText("At Draw slides")).toBeVisible();
  expect(within(resumed).getByText("Resumed 2 times")).toBeVisible();
  expect(within(resumed).getByText(/\$0\.04/)).toBeVisible();
  expect(screen.queryByRole("checkbox")).toBeNull();
});

test("a run that starts later says when", async () => {
  const until = new Date(Date.now() + 3 * 24 * 3_600_000).toISOString();
  const wait = { reason: "START_TIME" as const, message: "starts later", until };
  await show(<RunTable label="Runs" runs={[aRow({ id: "run_9", state: "QUEUED", wait })]} />);
  expect(await screen.findByText(`Starts later, at ${when(until, Date.now())}`)).toBeVisible();
});

test("text in backticks is set as code", async () => {
  const failure = aFailure({ message: "`127.0.0.1` answered 503." });
  await show(<RunTable label="Runs" runs={[{ ...FAILED, failure }]} />);
  expect((await screen.findByText("127.0.0.1")).tagName).toBe("CODE");
  expect(screen.queryByText(/`/)).toBeNull();
});

test("what started a run is named and linked: its trigger, the run that ended, the run it repeats, otherwise the caller", async () => {
  await show(
    <RunTable
      label="Runs"
      runs={[
        aRow({ id: "run_5", cause: "SCHEDULE", trigger: { id: "trig_1", name: "Nightly" } }),
        aRow({ id: "run_6", cause: "RUN_ENDED", endedRun: { id: "run_1", title: "First deck" } }),
        aRow({ id: "run_7", cause: "RERUN", rerunOf: { id: "run_2", title: "Second deck" } }),
        aRow({ id: "run_8" }),
      ]}
    />,
  );
  expect(await screen.findByRole("link", { name: "Nightly" })).toHaveAttribute("href", "/triggers/trig_1");
  expect(screen.getByRole("link", { name: "First deck" })).toHaveAttribute("href", "/runs/run_1");
  expect(screen.getByRole("link", { name: "Second deck" })).toHaveAttribute("href", "/runs/run_2");
  expect(screen.getByText("Ada")).toBeVisible();
});

test("runs that failed alike are one row, which unfolds and is picked as a whole", async () => {
  const onPick = vi.fn<(ids: readonly string[], on: boolean) => void>();
  const alike = ["run_a", "run_b", "run_c"].map((id) => ({ ...FAILED, id, title: `Deck ${id}` }));
  const other = { ...FAILED, id: "run_d", title: "Other reason", failure: aFailure({ code: "TIMEOUT" }) };
  await show(<RunTable label="Runs" runs={[...alike, RUNNING, other]} picked={new Set()} onPick={onPick} />);
  await screen.findByRole("table", { name: "Runs" });
  expect(screen.getAllByRole("row")).toHaveLength(4);
  await userEvent.click(screen.getByRole("checkbox", { name: "Select 3 runs that failed like Deck run_a" }));
  expect(onPick).toHaveBeenLastCalledWith(["run_a", "run_b", "run_c"], true);
  await userEvent.click(screen.getByRole("button", { name: "+2 similar" }));
  expect(screen.getAllByRole("row")).toHaveLength(6);
  await userEvent.click(screen.getByRole("checkbox", { name: "Select Deck run_b" }));
  expect(onPick).toHaveBeenLastCalledWith(["run_b"], true);
});

test("the row of runs that failed alike offers to resume the newest", async () => {
  const alike = ["run_a", "run_b"].map((id) => ({ ...FAILED, id, title: `Deck ${id}`, actions: ["RESUME" as const] }));
  await show(<RunTable label="Runs" runs={alike} />);
  expect(await screen.findByRole("link", { name: "Resume…" })).toHaveAttribute("href", "/runs/run_a?ask=resume");
});

test("a run that is acknowledged or cannot be resumed does not offer it, alone or with similar ones", async () => {
  const resumable = { ...FAILED, actions: ["RESUME" as const] };
  const alike = ["run_a", "run_b"].map((id) => ({
    ...FAILED,
    id,
    failure: aFailure({ code: "TIMEOUT" }),
    actions: [],
  }));
  await show(
    <RunTable
      label="Runs"
      runs={[
        { ...resumable, id: "run_c", title: "Acknowledged deck", acknowledgedAt: AT },
        aRow({ id: "run_d", title: "Cancelled deck", state: "CANCELLED", actions: ["RESUME"] }),
        ...alike,
      ]}
    />,
  );
  expect(await screen.findByRole("link", { name: "Acknowledged deck" })).toBeVisible();
  expect(screen.getByRole("button", { name: "+1 similar" })).toBeVisible();
  expect(screen.queryByRole("link", { name: "Resume…" })).toBeNull();
});

test("rows are picked one by one, or all of the page", async () => {
  const onPick = vi.fn<(ids: readonly string[], on: boolean) => void>();
  await show(<RunTable label="Runs" runs={[FAILED, RUNNING]} picked={new Set(["run_3"])} onPick={onPick} />);
  expect(await screen.findByRole("checkbox", { name: "Select Deck in the making" })).toBeChecked();
  await userEvent.click(screen.getByRole("checkbox", { name: "Select Broken deck" }));
  expect(onPick).toHaveBeenLastCalledWith(["run_2"], true);
  await userEvent.click(screen.getByRole("checkbox", { name: "Select Deck in the making" }));
  expect(onPick).toHaveBeenLastCalledWith(["run_3"], false);
  await userEvent.click(screen.getByRole("checkbox", { name: "Select all on this page" }));
  expect(onPick).toHaveBeenLastCalledWith(["run_2", "run_3"], true);
});

test("titles get the room of a column that would be empty", async () => {
  await show(<RunTable label="Runs" runs={[aRow({ id: "run_5", title: "Deck" })]} />);
  await screen.findByRole("table", { name: "Runs" });
  expect(screen.queryByRole("columnheader", { name: "What happened" })).toBeNull();
  cleanup();
  await show(<RunTable label="Runs" runs={[RESUMED]} />);
  expect(await screen.findByRole("columnheader", { name: "What happened" })).toBeInTheDocument();
});
