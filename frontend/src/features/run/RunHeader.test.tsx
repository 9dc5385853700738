// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { AT, aFailedRun } from "../../testing/runs.ts";
import { show } from "../../testing/show.tsx";
import { RunHeader } from "./RunHeader.tsx";

afterEach(cleanup);

test("The header names the worker that holds the run, and leads to the step that the last takeover continued", async () => {
  const takeovers = [
    { at: AT, worker: "web-2:2:bb", previousWorker: "web-1:1:aa", lost: true },
    { at: "2026-11-20T13:00:00Z", worker: "web-3:3:cc", previousWorker: "web-2:2:bb", lost: false },
  ];
  const run = aFailedRun(undefined, { state: "RUNNING", worker: "web-3:3:cc", takeovers });
  await show(<RunHeader run={run} actions={null} />);
  expect(await screen.findByText("on web-3:3:cc")).toBeVisible();
  expect(screen.getByRole("link", { name: "2 takeovers" })).toHaveAttribute("href", "/runs/run_1?step=render");
});

test("A run that one worker executed says nothing of takeovers", async () => {
  await show(<RunHeader run={aFailedRun()} actions={null} />);
  expect(await screen.findByRole("heading")).toBeVisible();
  expect(screen.queryByRole("link", { name: /takeover/ })).toBeNull();
});

test("A run that a schedule started names it and leads to it", async () => {
  const run = aFailedRun(undefined, { cause: "SCHEDULE", trigger: { id: "trig_1", name: "Nightly" } });
  await show(<RunHeader run={run} actions={null} />);
  expect(await screen.findByRole("link", { name: "Nightly" })).toHaveAttribute("href", "/triggers/trig_1");
  expect(screen.getByText(/by the schedule/)).toBeVisible();
});

test("A run that a webhook started names it as one", async () => {
  const run = aFailedRun(undefined, { cause: "WEBHOOK", trigger: { id: "trig_2", name: "Pushes" } });
  await show(<RunHeader run={run} actions={null} />);
  expect(await screen.findByText(/by the webhook/)).toBeVisible();
});

test("A run that another one's end started leads to it, and to what its own end started", async () => {
  const run = aFailedRun(undefined, {
    cause: "RUN_ENDED",
    trigger: { id: "trig_3", name: "Failures" },
    endedRun: { id: "run_0", title: "Nightly report" },
  });
  const node = { id: "run_9", title: "Tidy up", state: "SUCCEEDED" };
  const answer = { runs: { nodes: [node], pageInfo: { hasNextPage: false } } };
  const { asked } = await show(<RunHeader run={run} actions={null} />, { StartedRuns: answer });
  expect(await screen.findByRole("link", { name: "Nightly report" })).toHaveAttribute("href", "/runs/run_0");
  expect(screen.getByText(/by the trigger/)).toBeVisible();
  expect(await screen.findByRole("link", { name: "Tidy up" })).toHaveAttribute("href", "/runs/run_9");
  expect(asked[0]?.variables).toEqual({ run: run.id });
});
