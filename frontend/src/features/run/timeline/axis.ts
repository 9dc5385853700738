// Positions of the bars of a run's timeline, computed from times only. Pure functions.

import type { StepRowFragment } from "../run.generated.ts";

type Attempt = StepRowFragment["attempts"][number];
export type TimedStep = Pick<StepRowFragment, "state" | "wait"> & {
  attempts: (Pick<Attempt, "number" | "state" | "startedAt" | "endedAt"> & { reuse?: unknown })[];
};

export interface Segment {
  kind: "attempt" | "wait" | "queue";
  /** Per cent of the whole width. */
  left: number;
  width: number;
  state: Attempt["state"] | null;
  seconds: number;
}

interface Stretch {
  from: number;
  to: number;
}

/** Maps a moment to per cent of the width. */
export interface Axis {
  at: (moment: number) => number;
  /** Where a long pause, such as that before a resume, was cut short. */
  breaks: number[];
}

/** The attempts that ran here: a reused output took no time. */
function ranOf(step: TimedStep): TimedStep["attempts"] {
  return step.attempts.some(isReuse) ? step.attempts.filter((attempt) => !isReuse(attempt)) : step.attempts;
}

function isReuse(attempt: TimedStep["attempts"][number]): boolean {
  return attempt.reuse !== undefined && attempt.reuse !== null;
}

/** A bar narrower than this cannot be seen or pointed at. */
const NARROWEST = 0.8;
/** A pause in which nothing ran is cut when it takes more than this share of the working time… */
const LONG_PAUSE = 0.5;
/** …to this share. */
const CUT = 0.06;

/** A linear scale is no use when one step took this many times as long as another. */
const UNEVEN = 20;
/** On an even scale, the share of an attempt's width that a pause before it has. */
const EVEN_PAUSE = 0.3;

/** Whether the steps' times differ so much that an even scale should be offered. */
export function isUneven(steps: readonly TimedStep[], now: number): boolean {
  const times = steps.filter((step) => ranOf(step).length > 0).map((step) => workSeconds(step, now));
  return times.length > 1 && times.reduce((sum, time) => sum + time, 0) > UNEVEN * Math.max(0.001, Math.min(...times));
}

/**
 * The axis of a run: linear, but for pauses in which nothing ran at all.
 *
 * With `queuedAt`, the axis begins there. With `even`, every attempt has the same width.
 */
export function axisOf(
  steps: readonly TimedStep[],
  now: number,
  { queuedAt, even = false }: { queuedAt?: number | null; even?: boolean } = {},
): Axis {
  const attempts = steps.flatMap((step) => ranOf(step).map((attempt) => stretch(attempt, now)));
  const begun = attempts.reduce((least, { from }) => Math.min(least, from), now);
  // Queueing is a pause before the first attempt: a segment of length zero to begin at.
  const all = [...attempts];
  if (queuedAt !== undefined && queuedAt !== null) all.push(instant(Math.min(queuedAt, begun)));
  // What waits, waits until now.
  if (steps.some((step) => step.wait !== null) || (attempts.length === 0 && all.length > 0)) all.push(instant(now));
  if (even) return evenAxis(all);
  const busy = merged(all);
  const work = Math.max(
    1,
    busy.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const points: { moment: number; place: number }[] = [];
  const cuts: { from: number; to: number }[] = [];
  let place = 0;
  for (const [index, { from, to }] of busy.entries()) {
    const before = busy[index - 1];
    if (before !== undefined) {
      const pause = from - before.to;
      const long = attempts.length > 0 && pause > work * LONG_PAUSE;
      const width = long ? work * CUT : pause;
      if (long) cuts.push({ from: place, to: place + width });
      place += width;
    }
    points.push({ moment: from, place });
    place += to - from;
    points.push({ moment: to, place });
  }
  const whole = Math.max(place, 1);
  return {
    at: (moment) => (interpolated(points, moment) / whole) * 100,
    breaks: cuts.map(({ from, to }) => ((from + to) / 2 / whole) * 100),
  };
}

/** The axis of an active run ends at most this share of the working time after now. */
const AHEAD = 1 / 8;
const AHEAD_MS = 1000;

/**
 * The end of an active run's axis: now or slightly later, and constant for a while.
 *
 * Until then, finished bars do not move, so that their rows are not rendered for every change.
 */
export function reachOf(origin: number, workMs: number, now: number): number {
  const stride = Math.max(AHEAD_MS, 2 ** Math.floor(Math.log2(Math.max(1, workMs))) * AHEAD);
  return origin + Math.ceil((now - origin) / stride) * stride;
}

/** The latest moment an attempt is known to have begun or ended at. */
export function latestOf(steps: readonly TimedStep[]): number {
  return steps
    .flatMap(ranOf)
    .reduce((latest, { startedAt, endedAt }) => Math.max(latest, Date.parse(endedAt ?? startedAt)), -Infinity);
}

export function sameSegments(some: readonly Segment[], others: readonly Segment[]): boolean {
  return some.length === others.length && some.every((one, index) => sameSegment(one, others[index]));
}

function sameSegment(one: Segment, other: Segment | undefined): boolean {
  return (
    one.kind === other?.kind &&
    one.left === other.left &&
    one.width === other.width &&
    one.state === other.state &&
    one.seconds === other.seconds
  );
}

function evenAxis(stretches: Stretch[]): Axis {
  const points: { moment: number; place: number }[] = [];
  let place = 0;
  let end = -Infinity;
  for (const { from, to } of stretches.toSorted((one, other) => one.from - other.from)) {
    const begin = Math.max(from, end);
    if (points.length > 0 && begin > end) place += EVEN_PAUSE;
    points.push({ moment: begin, place });
    if (to > from) place += 1;
    end = Math.max(to, begin);
    points.push({ moment: end, place });
  }
  return { at: (moment) => (interpolated(points, moment) / Math.max(place, 0.001)) * 100, breaks: [] };
}

/** The time in the queue before the first attempt; null when too short to show. */
export function queueSegment(queuedAt: number, steps: readonly TimedStep[], axis: Axis, now: number): Segment | null {
  const begun = steps
    .flatMap(ranOf)
    .reduce<number | null>((least, { startedAt }) => Math.min(least ?? Infinity, Date.parse(startedAt)), null);
  const to = begun ?? now;
  return axis.at(to) - axis.at(queuedAt) < NARROWEST ? null : placed("queue", null, axis, queuedAt, to);
}

/** The bars of one step: its attempts, and the waits between them. */
export function segmentsOf(step: TimedStep, axis: Axis, now: number): Segment[] {
  const segments: Segment[] = [];
  let last: Stretch | null = null;
  for (const attempt of ranOf(step)) {
    const current = stretch(attempt, now);
    if (last !== null && current.from - last.to > 1) segments.push(placed("wait", null, axis, last.to, current.from));
    segments.push(placed("attempt", attempt.state, axis, current.from, current.to));
    last = current;
  }
  // A wait for the next attempt grows until it begins.
  if (step.wait !== null && last !== null && now - last.to > 1) segments.push(placed("wait", null, axis, last.to, now));
  return segments;
}

function placed(kind: Segment["kind"], state: Segment["state"], axis: Axis, from: number, to: number): Segment {
  const left = Math.min(axis.at(from), 100 - NARROWEST);
  const width = Math.min(Math.max(axis.at(to) - left, NARROWEST), 100 - left);
  return { kind, state, left, width, seconds: (to - from) / 1000 };
}

function instant(moment: number): Stretch {
  return { from: moment, to: moment };
}

function stretch(attempt: TimedStep["attempts"][number], now: number): Stretch {
  const from = Date.parse(attempt.startedAt);
  return { from, to: Math.max(from, attempt.endedAt === null ? now : Date.parse(attempt.endedAt)) };
}

function merged(stretches: Stretch[]): Stretch[] {
  const found: Stretch[] = [];
  for (const { from, to } of stretches.sort((one, other) => one.from - other.from)) {
    const last = found.at(-1);
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}

function interpolated(points: readonly { moment: number; place: number }[], moment: number): number {
  const first = points[0];
  if (first === undefined || moment <= first.moment) return 0;
  // The first point not before the moment, by halving: a run of 200 steps asks for 400 places at every tick.
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.moment ?? Infinity) < moment) low = middle + 1;
    else high = middle;
  }
  const point = points[low];
  if (point === undefined) return points.at(-1)?.place ?? 0;
  const before = points[low - 1] ?? point;
  const share = point.moment === before.moment ? 0 : (moment - before.moment) / (point.moment - before.moment);
  return before.place + share * (point.place - before.place);
}

/** Seconds that attempts took; pauses and waits do not count. */
export function workSeconds(step: TimedStep, now: number): number {
  return ranOf(step).reduce((sum, attempt) => {
    const { from, to } = stretch(attempt, now);
    return sum + (to - from) / 1000;
  }, 0);
}
