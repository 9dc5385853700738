// The ticks of a run's timeline. Pure functions.

import { clockTime } from "../../../lib/text/format.ts";
import type { Axis } from "./axis.ts";

export interface Tick {
  /** Per cent of the whole width. */
  place: number;
  label: string;
}

/** About as many intervals as this fit the width with their labels. */
const INTERVALS = 3;
/** Per cent of the width that a label needs. */
const LABEL = 28;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STRIDES = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
  ...[1, 2, 5, 10, 20, 50].map((days) => days * DAY),
];

/**
 * The ticks of an axis: the time since the run was created and, after a pause that is cut short, the time of day and
 * what has passed since.
 */
export function ticksOf(axis: Axis): Tick[] {
  const span = axis.sections.reduce((sum, { from, to }) => sum + to - from, 0);
  const stride = STRIDES.find((one) => span / one <= INTERVALS) ?? span;
  const ticks: Tick[] = [];
  if (stride <= 0) return ticks;
  for (const { from, to, origin, first } of axis.sections) {
    const wide = axis.at(to) - axis.at(from) >= LABEL;
    // Rounding must not lose a tick at the edge.
    for (let at = Math.ceil((from - origin) / stride - 1e-6) * stride; at <= to - origin; at += stride) {
      const place = axis.at(origin + at);
      if (place > 100 - LABEL / 2) continue;
      const near = place - (ticks.at(-1)?.place ?? -LABEL) < LABEL;
      // The time of day at which a long section begins says more than the tick before it.
      if (near && at === 0 && wide) ticks.pop();
      else if (near) continue;
      const label = first ? elapsed(at, stride) : at === 0 ? clockTime(origin) : `+${elapsed(at, stride)}`;
      ticks.push({ place, label });
    }
  }
  return ticks;
}

/** A time as exact as the distance of two ticks: `50 ms`, `1.5 s`, `2 min 30 s`. */
export function elapsed(ms: number, stride: number): string {
  if (ms > 0 && ms < SECOND && stride < 100) return `${Math.round(ms)} ms`;
  const digits = stride >= SECOND ? 0 : stride >= 100 ? 1 : stride >= 10 ? 2 : 3;
  const hours = Math.floor(ms / HOUR);
  const minutes = Math.floor((ms % HOUR) / MINUTE);
  const seconds = (ms % MINUTE) / SECOND;
  return [
    ...(hours > 0 ? [`${hours} h`] : []),
    ...(minutes > 0 ? [`${minutes} min`] : []),
    ...(seconds > 0 || ms < MINUTE ? [`${seconds === 0 ? 0 : seconds.toFixed(digits)} s`] : []),
  ].join(" ");
}
