// Runs as the server sends them, with changes per test.

import type { RunWholeFragment, StepRowFragment } from "../features/run/run.generated.ts";
import type { FailurePartsFragment, RunRowFragment } from "../domain/fragments.generated.ts";

export const AT = "2026-11-20T10:00:00.000Z";

export function aFailure(change: Partial<FailurePartsFragment> = {}): FailurePartsFragment {
  return {
    code: "UPSTREAM_UNAVAILABLE",
    class: "TRANSIENT",
    message: "The service does not answer.",
    cause: "It is down or overloaded.",
    field: null,
    hint: "Wake it.",
    remedy: "RESUME",
    fixableBy: "Usually nobody needs to.",
    retryable: true,
    retryAfterSeconds: null,
    safeToRepeat: true,
    stepKey: "render",
    detail: null,
    ...change,
  };
}

export function aStep(key: string, change: Partial<StepRowFragment> = {}): StepRowFragment {
  return {
    id: `step_${key}`,
    key,
    packVersion: "1.0.0",
    agent: null,
    state: "SUCCEEDED",
    progress: 1,
    startedAt: AT,
    endedAt: AT,
    warnings: [],
    step: { key, position: 0, packName: `test.${key}` },
    wait: null,
    milestones: [],
    failure: null,
    cost: { amountUsd: null, usage: { input: 0, output: 0 } },
    artifacts: [],
    attempts: [
      {
        id: `att_${key}`,
        number: 1,
        state: "SUCCEEDED",
        startedAt: AT,
        endedAt: AT,
        models: [],
        notes: [],
        failure: null,
        exception: null,
        reuse: null,
      },
    ],
    ...change,
  };
}

export function aRow(change: Partial<RunRowFragment> = {}): RunRowFragment {
  return {
    id: "run_1",
    title: "Quarterly deck",
    state: "SUCCEEDED",
    cause: "PERSON",
    trigger: null,
    endedRun: null,
    rerunOf: null,
    clientName: null,
    createdAt: AT,
    startedAt: AT,
    endedAt: AT,
    progress: 1,
    resumeCount: 0,
    acknowledgedAt: null,
    workSeconds: 2,
    actions: ["RERUN"],
    caller: { id: "caller_1", name: "Ada" },
    pipeline: { id: "pipe_1", key: "deck", name: "Deck" },
    pack: null,
    failure: null,
    wait: null,
    cost: { amountUsd: null, usage: { input: 0, output: 0 } },
    currentStep: null,
    ...change,
  };
}

/** A run that failed at its second step of three. */
export function aFailedRun(
  failure: FailurePartsFragment = aFailure(),
  change: Partial<RunWholeFragment> = {},
): RunWholeFragment {
  return {
    ...aRow({ state: "FAILED", actions: ["RESUME", "RERUN", "ACKNOWLEDGE"], failure }),
    worker: null,
    takeovers: [],
    eventCursor: "cursor",
    inputs: { topic: "tea" },
    deadlineAt: null,
    version: { id: "version_1", number: 1 },
    rerunOf: null,
    fromMemory: [],
    pipeline: { id: "pipe_1", key: "deck", name: "Deck", currentVersion: { id: "version_1", number: 1 } },
    steps: [
      aStep("outline"),
      aStep("render", {
        state: "FAILED",
        failure,
        attempts: [
          {
            id: "att_render",
            number: 1,
            state: "FAILED",
            startedAt: AT,
            endedAt: AT,
            models: [],
            notes: [],
            failure,
            exception: null,
            reuse: null,
          },
        ],
      }),
      aStep("publish", { state: "PENDING", attempts: [] }),
    ],
    ...change,
  };
}
