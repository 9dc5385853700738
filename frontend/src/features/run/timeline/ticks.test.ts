import { expect, test } from "vitest";

import { clockTime } from "../../../lib/text/format.ts";
import { axisOf, type TimedStep, zoomed } from "./axis.ts";
import { elapsed, ticksOf } from "./ticks.ts";

const ZERO = Date.parse("2026-01-01T00:00:00Z");
const at = (second: number) => new Date(ZERO + second * 1000).toISOString();

function step(...attempts: [from: number, to: number][]): TimedStep {
  return {
    state: "SUCCEEDED",
    wait: null,
    attempts: attempts.map(([from, to], index) => ({
      number: index + 1,
      state: "SUCCEEDED",
      startedAt: at(from),
      endedAt: at(to),
    })),
  };
}

test("ticks are at round times since the run was created", () => {
  expect(ticksOf(axisOf([step([0, 5])], ZERO))).toEqual([
    { place: 0, label: "0 s" },
    { place: 40, label: "2 s" },
    { place: 80, label: "4 s" },
  ]);
});

test("after a pause that was cut short, the time of day, and what has passed since", () => {
  const axis = axisOf([step([0, 1]), step([7200, 7210])], ZERO + 7_210_000);
  expect(ticksOf(axis).map(({ label }) => label)).toEqual([clockTime(at(7200)), "+5 s"]);
  const even = axisOf([step([0, 5]), step([7200, 7205])], ZERO + 7_205_000);
  expect(ticksOf(even).map(({ label }) => label)).toEqual(["0 s", clockTime(at(7200))]);
});

test("labels do not run into each other, nor over the edge", () => {
  const steps = Array.from({ length: 20 }, (_, index) => step([index * 1000, index * 1000 + 1]));
  const places = ticksOf(axisOf(steps, ZERO)).map(({ place }) => place);
  for (const [index, place] of places.entries()) {
    expect(place).toBeLessThanOrEqual(86);
    if (index > 0) expect(place - (places[index - 1] ?? 0)).toBeGreaterThanOrEqual(28);
  }
});

test("a zoom has finer ticks, still counted from the beginning", () => {
  const axis = zoomed(axisOf([step([0, 100])], ZERO), { from: ZERO + 70_000, to: ZERO + 70_300 });
  expect(ticksOf(axis).map(({ label }) => label)).toEqual(["1 min 10.0 s", "1 min 10.1 s", "1 min 10.2 s"]);
});

test("an even scale has no ticks: it is not one of time", () => {
  expect(ticksOf(axisOf([step([0, 1]), step([1, 90])], ZERO, { even: true }))).toEqual([]);
});

test("times are as exact as the ticks are apart", () => {
  expect(elapsed(50, 10)).toBe("50 ms");
  expect(elapsed(1500, 500)).toBe("1.5 s");
  expect(elapsed(90_000, 30_000)).toBe("1 min 30 s");
  expect(elapsed(7_200_000, 3_600_000)).toBe("2 h");
});
