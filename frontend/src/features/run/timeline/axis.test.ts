import { expect, test } from "vitest";

import {
  axisOf,
  extentOf,
  isUneven,
  queueSegment,
  reachOf,
  sameSegments,
  segmentsOf,
  takeoverSegments,
  type TimedStep,
  workSeconds,
  zoomed,
  zoomedBy,
} from "./axis.ts";

const ZERO = Date.parse("2026-01-01T00:00:00Z");
const at = (second: number) => new Date(ZERO + second * 1000).toISOString();

function step(...attempts: [from: number, to: number | null, state?: "FAILED" | "SUCCEEDED"][]): TimedStep {
  return {
    state: "SUCCEEDED",
    wait: null,
    attempts: attempts.map(([from, to, state = "SUCCEEDED"], index) => ({
      number: index + 1,
      state: to === null ? "RUNNING" : state,
      startedAt: at(from),
      endedAt: to === null ? null : at(to),
    })),
  };
}

test("bars stand one after the other, in proportion", () => {
  const steps = [step([0, 1]), step([1, 4])];
  const axis = axisOf(steps, ZERO);
  const [first, second] = steps.map((one) => segmentsOf(one, axis, ZERO)[0]);
  expect(first).toMatchObject({ left: 0, width: 25, kind: "attempt" });
  expect(second).toMatchObject({ left: 25, width: 75 });
  expect(axis.breaks).toEqual([]);
});

test("the back-off between attempts shows as a wait", () => {
  const one = step([0, 1, "FAILED"], [1.5, 4]);
  const segments = segmentsOf(one, axisOf([one], ZERO), ZERO);
  expect(segments.map(({ kind }) => kind)).toEqual(["attempt", "wait", "attempt"]);
  expect(segments[1]).toMatchObject({ left: 25, width: 12.5, seconds: 0.5 });
});

test("a pause of hours before a resume is cut short and marked", () => {
  const steps = [step([0, 1]), step([1, 2, "FAILED"], [7200, 7202])];
  const axis = axisOf(steps, ZERO + 7_202_000);
  expect(axis.breaks).toHaveLength(1);
  const [failed, , again] = segmentsOf(steps[1] as TimedStep, axis, ZERO);
  expect(failed?.left).toBeGreaterThan(20);
  expect(again?.width).toBeGreaterThan(40);
});

test("a running attempt ends now", () => {
  const one = step([0, null]);
  expect(workSeconds(one, ZERO + 3000)).toBe(3);
  expect(segmentsOf(one, axisOf([one], ZERO + 3000), ZERO + 3000)).toMatchObject([
    { left: 0, width: 100, state: "RUNNING" },
  ]);
});

test("nothing has started: there is nothing to draw", () => {
  const one = step();
  expect(segmentsOf(one, axisOf([one], ZERO), ZERO)).toEqual([]);
});

test("an attempt too short to see is still drawn inside", () => {
  const steps = [step([0, 100]), step([100, 100])];
  const [segment] = segmentsOf(steps[1] as TimedStep, axisOf(steps, ZERO), ZERO);
  expect(segment?.width).toBeGreaterThan(0.5);
  expect((segment?.left ?? 0) + (segment?.width ?? 0)).toBeLessThanOrEqual(100);
});

test("the time in the queue stands before the first attempt, hollow", () => {
  const steps = [step([1, 4])];
  const axis = axisOf(steps, ZERO, { queuedAt: ZERO });
  expect(queueSegment(ZERO, steps, axis, ZERO)).toMatchObject({ kind: "queue", left: 0, width: 25, seconds: 1 });
  expect(segmentsOf(steps[0] as TimedStep, axis, ZERO)[0]).toMatchObject({ left: 25, width: 75 });
});

test("a run that has not begun has waited until now", () => {
  const now = ZERO + 5000;
  expect(queueSegment(ZERO, [step()], axisOf([step()], now, { queuedAt: ZERO }), now)).toMatchObject({
    left: 0,
    width: 100,
    seconds: 5,
  });
});

test("a wait for the next attempt grows until now", () => {
  const now = ZERO + 3000;
  const one = { ...step([0, 1, "FAILED"]), wait: { reason: "RETRY" as const, message: "", until: null } };
  expect(segmentsOf(one, axisOf([one], now), now)).toMatchObject([{ kind: "attempt" }, { kind: "wait", seconds: 2 }]);
});

test("steps that differ twentyfold can be drawn evenly", () => {
  const steps = [step([0, 0.1]), step([0.1, 60])];
  expect(isUneven(steps, ZERO)).toBe(true);
  expect(isUneven([step([0, 1]), step([1, 4])], ZERO)).toBe(false);
  const axis = axisOf(steps, ZERO, { even: true });
  expect(steps.map((one) => segmentsOf(one, axis, ZERO)[0]?.width)).toEqual([50, 50]);
});

test("what goes on leads a little beyond now, so that bars of what has ended stand still for a while", () => {
  const bars = (now: number) => {
    const steps = [step([0, 4]), step([4, 10]), step([10, null])];
    const axis = axisOf(steps, reachOf(ZERO, now - ZERO, now), { queuedAt: ZERO });
    return steps.map((one) => segmentsOf(one, axis, now));
  };
  const [first, second, third] = bars(ZERO + 12_050);
  const [firstLater, secondLater, thirdLater] = bars(ZERO + 12_250);
  expect(sameSegments(first ?? [], firstLater ?? [])).toBe(true);
  expect(sameSegments(second ?? [], secondLater ?? [])).toBe(true);
  expect(sameSegments(third ?? [], thirdLater ?? [])).toBe(false);
  expect(sameSegments(first ?? [], second ?? [])).toBe(false);
  for (const work of [0, 1, 900, 15_000, 3_600_000]) {
    const now = ZERO + work + 7;
    expect(reachOf(ZERO, work, now)).toBeGreaterThanOrEqual(now);
    expect(reachOf(ZERO, work, now) - now).toBeLessThanOrEqual(Math.max(1000, work / 8));
  }
});

test("a place is read back as a moment, also across a pause that was cut", () => {
  const steps = [step([0, 1]), step([1, 2, "FAILED"], [7200, 7202])];
  const axis = axisOf(steps, ZERO + 7_202_000);
  for (const second of [0, 0.5, 2, 7200, 7201.5]) {
    expect(axis.momentAt(axis.at(ZERO + second * 1000)) - ZERO).toBeCloseTo(second * 1000, 0);
  }
  expect(axis.sections.map(({ from, to, first }) => [from - ZERO, to - ZERO, first])).toEqual([
    [0, 2000, true],
    [7_200_000, 7_202_000, false],
  ]);
});

test("a zoom fills the width with its extent; what lies outside is not drawn", () => {
  const steps = [step([0, 4]), step([4, 6]), step([6, 10])];
  const axis = zoomed(axisOf(steps, ZERO + 10_000), { from: ZERO + 4000, to: ZERO + 8000 });
  const [before, whole, cut] = steps.map((one) => segmentsOf(one, axis, ZERO));
  expect(before).toEqual([]);
  expect(whole).toMatchObject([{ left: 0, width: 50, seconds: 2 }]);
  expect(cut).toMatchObject([{ left: 50, width: 50, seconds: 4 }]);
  expect(axis.momentAt(25) - ZERO).toBeCloseTo(5000);
  expect(axis.sections).toMatchObject([{ from: ZERO + 4000, to: ZERO + 8000, origin: ZERO }]);
});

test("a zoom to nothing, as an address may ask for, is none", () => {
  const axis = axisOf([step([0, 4])], ZERO + 4000);
  expect(zoomed(axis, { from: ZERO + 90_000, to: ZERO + 95_000 })).toBe(axis);
  expect(zoomed(axis, null)).toBe(axis);
});

test("what a step is zoomed to holds all its attempts", () => {
  expect(extentOf(step([2, 3, "FAILED"], [5, 12]), ZERO)).toEqual({ from: ZERO + 1000, to: ZERO + 13_000 });
  expect(extentOf(step(), ZERO)).toBeNull();
});

test("keys zoom around the step that is seen, and move within the run", () => {
  const axis = axisOf([step([0, 4]), step([4, 10])], ZERO + 10_000);
  const part = (from: number, to: number) => ({ from: ZERO + from * 1000, to: ZERO + to * 1000 });
  expect(zoomedBy(axis, null, { factor: 0.5 })).toEqual(part(2.5, 7.5));
  expect(zoomedBy(axis, null, { factor: 0.5, focus: part(0, 4) })).toEqual(part(1, 6));
  expect(zoomedBy(axis, part(6, 8), { factor: 0.5, focus: part(0, 4) })).toEqual(part(6.5, 7.5));
  expect(zoomedBy(axis, part(6, 8), { shift: 0.25 })).toEqual(part(6.5, 8.5));
  expect(zoomedBy(axis, part(8, 10), { shift: 0.25 })).toEqual(part(8, 10));
  expect(zoomedBy(axis, part(7, 9), { factor: 2 })).toEqual(part(6, 10));
  expect(zoomedBy(axis, part(2, 8), { factor: 2 })).toBeNull();
  expect(zoomedBy(axis, null, { shift: 0.25 })).toBeNull();
});

test("a takeover is marked where it happened, and not outside of what is shown", () => {
  const axis = axisOf([step([0, 4], [6, 10])], ZERO + 10_000);
  expect(takeoverSegments([{ at: at(5) }], axis)).toMatchObject([{ kind: "takeover", left: 50 }]);
  expect(takeoverSegments([{ at: at(5) }], zoomed(axis, { from: ZERO + 6000, to: ZERO + 9000 }))).toEqual([]);
});
