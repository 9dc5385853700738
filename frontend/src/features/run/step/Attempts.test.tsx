// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { aFailedRun } from "../../../testing/runs.ts";
import type { RunWholeFragment } from "../run.generated.ts";
import { Attempts } from "./Attempts.tsx";

afterEach(cleanup);

const TAKEN_AT = "2026-11-20T10:00:05.000Z";

function show(takeovers: RunWholeFragment["takeovers"]): void {
  const run = aFailedRun(undefined, { takeovers });
  const step = run.steps.find(({ key }) => key === "render");
  const [attempt] = step?.attempts ?? [];
  if (step === undefined || attempt === undefined) throw new Error("The run has such a step.");
  step.attempts = [attempt, { ...attempt, id: "att_2", number: 2, startedAt: TAKEN_AT }];
  render(<Attempts run={run} step={step} chosen={undefined} onChoose={() => undefined} />);
}

test("A step that another worker went on with names the worker of each attempt, and who took over from whom", () => {
  show([{ at: TAKEN_AT, worker: "web-2:2:bb", previousWorker: "web-1:1:aa", lost: true }]);
  const [first, second] = screen.getAllByRole("button");
  expect(first).toHaveTextContent("on web-1:1:aa");
  expect(second).toHaveTextContent("on web-2:2:bb");
  expect(screen.getByRole("list", { name: "Takeovers" })).toHaveTextContent(
    "web-2:2:bb took over from web-1:1:aa, which was lost",
  );
});

test("A run that one worker executed says nothing of workers", () => {
  show([]);
  for (const attempt of screen.getAllByRole("button")) expect(attempt).not.toHaveTextContent("on ");
  expect(screen.queryByRole("list", { name: "Takeovers" })).toBeNull();
});
