// Positions of the bars of a run's timeline, computed from times only. Pure functions.

import type { StepRowFragment } from "../run.generated.ts";

type Attempt = StepRowFragment["attempts"][number];
export type TimedStep = Pick<StepRowFragment, "state" | "wait"> & {
  attempts: (Pick<Attempt, "number" | "state" | "startedAt" | "endedAt"> & { reuse?: unknown })[];
};

export interface Segment {
  kind: "attempt" | "wait" | "queue" | "takeover";
  /** Per cent of the whole width. */
  left: number;
  width: number;
  state: Attempt["state"] | null;
  seconds: number;
}

export interface Stretch {
  from: number;
  to: number;
}

/** A stretch of the axis that is drawn to scale. */
export interface Section extends Stretch {
  /** Where it begins on the whole axis: the zero of its ticks. */
  origin: number;
  /** Whether it is the first of the whole axis. */
  first: boolean;
}

/** Maps a moment to per cent of the width. */
export interface Axis {
  at: (moment: number) => number;
  momentAt: (place: number) => number;
  /** Where a long pause, such as that before a resume, was cut short. */
  breaks: number[];
  /** What lies between those pauses; none on an even scale. */
  sections: Section[];
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

/** The smallest share of the axis, in per cent, that can fill the width. */
const MOST_ZOOM = 0.001;
const MARGIN = 0.1;
const MARGIN_MS = 2;

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
  const points: Point[] = [];
  const cuts: Stretch[] = [];
  const sections: Section[] = [];
  let place = 0;
  for (const [index, { from, to }] of busy.entries()) {
    const before = busy[index - 1];
    if (before !== undefined) {
      const pause = from - before.to;
      const long = attempts.length > 0 && pause > work * LONG_PAUSE;
      const width = long ? work * CUT : pause;
      if (long) cuts.push({ from: place, to: place + width });
      place += width;
      if (long) sections.push({ from, to, origin: from, first: false });
    }
    const section = sections.at(-1);
    if (section === undefined) sections.push({ from, to, origin: from, first: true });
    else section.to = to;
    points.push({ moment: from, place });
    place += to - from;
    points.push({ moment: to, place });
  }
  const whole = Math.max(place, 1);
  return {
    ...scaled(points, whole),
    breaks: cuts.map(({ from, to }) => ((from + to) / 2 / whole) * 100),
    sections,
  };
}

/** The part of an axis between two moments, over the whole width; places outside it are below 0 or above 100. */
export function zoomed(axis: Axis, extent: Stretch | null): Axis {
  if (extent === null) return axis;
  const left = axis.at(extent.from);
  const width = axis.at(extent.to) - left;
  // The extent comes from the address.
  if (width < MOST_ZOOM) return axis;
  const scale = 100 / width;
  const [from, to] = [axis.momentAt(left), axis.momentAt(left + width)];
  return {
    at: (moment) => (axis.at(moment) - left) * scale,
    momentAt: (place) => axis.momentAt(left + place / scale),
    breaks: axis.breaks.map((place) => (place - left) * scale).filter((place) => place >= 0 && place <= 100),
    sections: axis.sections
      .map((section) => ({ ...section, from: Math.max(section.from, from), to: Math.min(section.to, to) }))
      .filter((section) => section.to > section.from),
  };
}

/**
 * What is shown after one press of a key: a part of the axis, `factor` as long and moved by `shift` times its length;
 * null for the whole axis. It is zoomed around `focus`, or around its middle when that lies outside.
 */
export function zoomedBy(
  axis: Axis,
  extent: Stretch | null,
  { factor = 1, shift = 0, focus = null }: { factor?: number; shift?: number; focus?: Stretch | null },
): Stretch | null {
  const left = extent === null ? 0 : axis.at(extent.from);
  const width = extent === null ? 100 : axis.at(extent.to) - left;
  const wanted = width * factor;
  if (wanted >= 100) return null;
  if (wanted < MOST_ZOOM) return extent;
  const wish = focus === null ? NaN : (axis.at(focus.from) + axis.at(focus.to)) / 2;
  const middle = wish >= left && wish <= left + width ? wish : left + width / 2;
  const begin = Math.min(100 - wanted, Math.max(0, middle - (middle - left) * factor + shift * width));
  return { from: axis.momentAt(begin), to: axis.momentAt(begin + wanted) };
}

/** What to zoom to for a step: its attempts and the waits between them, with a margin; null when nothing ran. */
export function extentOf(step: TimedStep, now: number): Stretch | null {
  const ran = ranOf(step).map((attempt) => stretch(attempt, now));
  const [first, last] = [ran[0], ran.at(-1)];
  if (first === undefined || last === undefined) return null;
  const margin = Math.max(MARGIN_MS, (last.to - first.from) * MARGIN);
  return { from: first.from - margin, to: last.to + margin };
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
  const points: Point[] = [];
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
  return { ...scaled(points, Math.max(place, 0.001)), breaks: [], sections: [] };
}

interface Point {
  moment: number;
  place: number;
}

/** Both directions of an axis through points in order, `whole` wide. */
function scaled(points: readonly Point[], whole: number): Pick<Axis, "at" | "momentAt"> {
  return {
    at: (moment) => (interpolated(points, "moment", moment).place / whole) * 100,
    momentAt: (place) => interpolated(points, "place", (place / 100) * whole).moment,
  };
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
  const segments: (Segment | null)[] = [];
  let last: Stretch | null = null;
  for (const attempt of ranOf(step)) {
    const current = stretch(attempt, now);
    if (last !== null && current.from - last.to > 1) segments.push(placed("wait", null, axis, last.to, current.from));
    segments.push(placed("attempt", attempt.state, axis, current.from, current.to));
    last = current;
  }
  // A wait for the next attempt grows until it begins.
  if (step.wait !== null && last !== null && now - last.to > 1) segments.push(placed("wait", null, axis, last.to, now));
  return segments.filter((segment) => segment !== null);
}

/** The marks of the moments at which another worker took over. */
export function takeoverSegments(takeovers: readonly { at: string }[], axis: Axis): Segment[] {
  return takeovers
    .map(({ at }) => placed("takeover", null, axis, Date.parse(at), Date.parse(at)))
    .filter((segment) => segment !== null);
}

/** How far beyond the edge rounding may put a place. */
const ROUNDING = 1e-6;

/** The bar between two moments, cut at the edges; null when it lies outside. */
function placed(kind: Segment["kind"], state: Segment["state"], axis: Axis, from: number, to: number): Segment | null {
  const [begin, end] = [axis.at(from), axis.at(to)];
  if ((begin < -ROUNDING && end < ROUNDING) || (begin > 100 - ROUNDING && end > 100 + ROUNDING)) return null;
  const left = Math.min(Math.max(begin, 0), 100 - NARROWEST);
  const width = Math.min(Math.max(end - left, NARROWEST), 100 - left);
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

/** The point at a moment or a place, between those given or at their ends. */
function interpolated(points: readonly Point[], by: keyof Point, value: number): Point {
  const first = points[0];
  if (first === undefined || value <= first[by]) return first ?? { moment: 0, place: 0 };
  // The first point not before the value, by halving: a run of 200 steps asks for 400 places at every tick.
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle]?.[by] ?? Infinity) < value) low = middle + 1;
    else high = middle;
  }
  const point = points[low];
  if (point === undefined) return points.at(-1) ?? first;
  const before = points[low - 1] ?? point;
  const share = point[by] === before[by] ? 0 : (value - before[by]) / (point[by] - before[by]);
  return {
    moment: before.moment + share * (point.moment - before.moment),
    place: before.place + share * (point.place - before.place),
  };
}

/** Seconds that attempts took; pauses and waits do not count. */
export function workSeconds(step: TimedStep, now: number): number {
  return ranOf(step).reduce((sum, attempt) => {
    const { from, to } = stretch(attempt, now);
    return sum + (to - from) / 1000;
  }, 0);
}
