import { expect, test } from "vitest";

import { aFailedRun, aStep } from "../../testing/runs.ts";
import type { RunWholeFragment } from "./run.generated.ts";
import { takeoversByStep, workerAt } from "./workers.ts";

const at = (second: number) => new Date(Date.parse("2026-01-01T00:00:00Z") + second * 1000).toISOString();

function attempts(...starts: number[]): Pick<RunWholeFragment["steps"][number], "attempts"> {
  const [attempt] = aStep("any").attempts;
  if (attempt === undefined) throw new Error("A step has an attempt.");
  return {
    attempts: starts.map((start, index) => ({
      ...attempt,
      id: `att_${start}`,
      number: index + 1,
      startedAt: at(start),
    })),
  };
}

const first = { at: at(10), worker: "b", previousWorker: "a", lost: true };
const second = { at: at(30), worker: "c", previousWorker: "b", lost: false };

function aMovedRun(change: Partial<RunWholeFragment> = {}): RunWholeFragment {
  const steps = [
    aStep("make", attempts(0)),
    aStep("send", attempts(2, 11)),
    aStep("file", { state: "PENDING", attempts: [] }),
  ];
  return aFailedRun(undefined, { state: "RUNNING", worker: "c", takeovers: [first, second], steps, ...change });
}

test("A takeover belongs to the step that went on after it, or goes on next", () => {
  expect([...takeoversByStep(aMovedRun())]).toEqual([
    ["send", [first]],
    ["file", [second]],
  ]);
  expect(takeoversByStep(aFailedRun()).size).toBe(0);
});

test("Each attempt has the worker that had the run when it started", () => {
  const run = aMovedRun();
  expect([0, 2, 11, 31].map((start) => workerAt(run, at(start)))).toEqual(["a", "a", "b", "c"]);
  expect(workerAt(aMovedRun({ takeovers: [], worker: null }), at(1))).toBeNull();
});
