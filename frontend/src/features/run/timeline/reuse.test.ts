import { expect, test } from "vitest";

import { aStep } from "../../../testing/runs.ts";
import { axisOf, isUneven, queueSegment, segmentsOf, workSeconds } from "./axis.ts";
import { isReused } from "./reuse.ts";

const AT = Date.parse("2026-11-20T10:00:00.000Z");
const [attempt] = aStep("make").attempts;
const reused = aStep("make", { attempts: attempt === undefined ? [] : [{ ...attempt, reuse: { madeBy: null } }] });
const ran = aStep("send", {
  attempts:
    attempt === undefined
      ? []
      : [{ ...attempt, startedAt: "2026-11-20T10:00:04.000Z", endedAt: "2026-11-20T10:00:06.000Z" }],
});

test("a reused output takes no time and has no bar", () => {
  expect(isReused(reused)).toBe(true);
  expect(isReused(ran)).toBe(false);
  const axis = axisOf([reused, ran], AT + 6000, { queuedAt: AT });
  expect(segmentsOf(reused, axis, AT + 6000)).toEqual([]);
  expect(workSeconds(reused, AT + 6000)).toBe(0);
  expect(isUneven([reused, ran], AT + 6000)).toBe(false);
  // It stood in the queue until the first step that ran.
  expect(queueSegment(AT, [reused, ran], axis, AT + 6000)?.seconds).toBe(4);
});

test("what ran here after all, since its session was gone, is not reused", () => {
  expect(isReused({ ...reused, attempts: [...reused.attempts, ...ran.attempts] })).toBe(false);
});
