import { expect, test } from "vitest";

import { dryRun, mapConcurrently, type Planned } from "./bulk.ts";

function run(id: string, change: Partial<Planned> = {}): Planned {
  const plan = {
    allowed: true,
    issues: [],
    steps: [{ key: "a", action: "RUN" as const, effects: "NONE" as const, mayRepeatEffects: false }],
  };
  return {
    id,
    title: id,
    state: "FAILED",
    acknowledgedAt: null,
    actions: ["RESUME", "RERUN", "ACKNOWLEDGE"],
    resumePreview: plan,
    rerunPreview: plan,
    again: 0,
    ...change,
  };
}

const outside = {
  allowed: true,
  issues: [],
  definitionChanged: false,
  steps: [
    {
      key: "a",
      action: "RUN" as const,
      reason: "",
      effects: "EXTERNAL" as const,
      mayRepeatEffects: false,
      runStep: null,
    },
  ],
};

test("the line counts what resumes, what changes an external system and what was run again", () => {
  const runs = [
    run("1"),
    run("2", { resumePreview: outside }),
    run("3", { again: 1 }),
    run("4", { actions: ["RERUN"] }),
  ];
  const dry = dryRun("resume", 4, runs);
  expect(dry.line).toBe("4 runs selected: 3 resume, 1 changes an external system, 1 was already run again, 1 cannot.");
  expect(dry.ready).toEqual(["1", "2", "3"]);
  expect(dry.not).toEqual({ 4: "It has not failed and was not cancelled." });
});

test("what the server would refuse is not ready, and says why", () => {
  const refused = {
    allowed: false,
    issues: [{ message: "The session is gone.", severity: "ERROR" as const }],
    steps: [],
  };
  const dry = dryRun("resume", 1, [run("1", { resumePreview: refused })]);
  expect(dry).toMatchObject({
    ready: [],
    not: { 1: "The session is gone." },
    line: "1 run selected: 0 resume, 1 cannot.",
  });
});

test("an effect of a step that is reused counts for nothing", () => {
  const kept = { ...outside, steps: outside.steps.map((step) => ({ ...step, action: "REUSE" as const })) };
  expect(dryRun("resume", 1, [run("1", { resumePreview: kept })]).line).toBe("1 run selected: 1 resumes.");
});

test("one is cancelled, and one that was acknowledged is not again", () => {
  expect(dryRun("cancel", 1, [run("1", { actions: ["CANCEL"] })]).line).toBe("1 run selected: 1 is cancelled.");
  expect(dryRun("acknowledge", 1, [run("1", { acknowledgedAt: "2026-01-01" })]).ready).toEqual([]);
});

test("a few are done at a time, results in order", async () => {
  let [now, most] = [0, 0];
  const results = await mapConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    now += 1;
    most = Math.max(most, now);
    await Promise.resolve();
    now -= 1;
    return item * 10;
  });
  expect(results).toEqual([10, 20, 30, 40, 50]);
  expect(most).toBe(2);
});
