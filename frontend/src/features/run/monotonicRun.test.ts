import { expect, test } from "vitest";

import { initialRun, advanceRun } from "./monotonicRun.ts";

const at = (eventCursor: string, state = eventCursor, endedAt: string | null = null, resumeCount = 0) => ({
  eventCursor,
  state,
  endedAt,
  resumeCount,
});

test("what is shown goes on with every change, and not back with a late answer", () => {
  let known = initialRun(at("1"));
  for (const run of [at("2"), at("3"), at("2"), at("1")]) known = advanceRun(known, run);
  expect(known.shown.state).toBe("3");
  expect(known.given.state).toBe("1");
  expect(advanceRun(known, at("4")).shown.state).toBe("4");
});

test("the same moment read again counts, since more of it may be known", () => {
  const known = advanceRun(initialRun(at("1", "less")), at("1", "more"));
  expect(known.shown.state).toBe("more");
  expect(known.passed).toEqual([]);
});

test("a run that has ended goes on only when it is resumed, whatever a late answer says that was never met", () => {
  const ended = advanceRun(initialRun(at("1", "running")), at("3", "cancelled", "now"));
  const late = advanceRun(ended, at("2", "cancelling"));
  expect(late.shown.state).toBe("cancelled");
  expect(advanceRun(late, at("3", "cancelled", "now")).shown.state).toBe("cancelled");
  const resumed = advanceRun(late, at("4", "queued", null, 1));
  expect(resumed.shown.state).toBe("queued");
  expect(advanceRun(resumed, at("3.5", "acknowledged", "now", 0)).shown.state).toBe("queued");
});
