// Numbers and times for people. Unknown stays unknown: callers get null and show nothing, never 0.

import { inZone, isZone, zone } from "../time/zone.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const;

export function bytes(size: number): string {
  let value = size;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** How long, with the unit that fits: `40 ms`, `0.4 s`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(seconds: number): string {
  const value = Math.max(0, seconds);
  if (value < 0.095) return `${Math.round(value * 1000)} ms`;
  if (value < 10) return `${value.toFixed(1)} s`;
  if (value < 59.5) return `${Math.round(value)} s`;
  const whole = Math.round(value);
  if (whole < 3600) return join(Math.floor(whole / 60), "min", whole % 60, "s");
  const minutes = Math.round(whole / 60);
  if (minutes < 1440) return join(Math.floor(minutes / 60), "h", minutes % 60, "min");
  const hours = Math.round(minutes / 60);
  return join(Math.floor(hours / 24), "d", hours % 24, "h");
}

function join(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

export function secondsBetween(from: string, to: string | number): number {
  return ((typeof to === "number" ? to : Date.parse(to)) - Date.parse(from)) / 1000;
}

type Shape = "date" | "year" | "time" | "clock" | "day" | "dayOfYear" | "exact";
const SHAPES: Record<Shape, Intl.DateTimeFormatOptions> = {
  date: {},
  year: { year: "numeric" },
  time: { hour: "2-digit", minute: "2-digit" },
  clock: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
  day: { day: "numeric", month: "short" },
  dayOfYear: { day: "numeric", month: "short", year: "numeric" },
  exact: { dateStyle: "medium", timeStyle: "long" },
};
/** Cached by shape and zone: creating one takes a hundred times as long as using it. */
const formats = new Map<string, Intl.DateTimeFormat>();

function shaped(moment: Date, shape: Shape): string {
  // A formatter throws on an invalid date.
  if (Number.isNaN(moment.getTime())) return "unknown";
  const name = `${shape} ${zone()}`;
  const known = formats.get(name);
  if (known !== undefined) return known.format(moment);
  const made = new Intl.DateTimeFormat(undefined, { ...SHAPES[shape], ...inZone() });
  formats.set(name, made);
  return made.format(moment);
}

/** When, seen from `now`: a time of day today, else the date too. */
export function when(at: string, now: number, seconds = false): string {
  const date = new Date(at);
  const today = new Date(now);
  const time = shaped(date, seconds ? "clock" : "time");
  return shaped(date, "date") === shaped(today, "date") ? time : `${day(date, today)}, ${time}`;
}

function day(date: Date, today: Date): string {
  return shaped(date, shaped(date, "year") === shaped(today, "year") ? "day" : "dayOfYear");
}

/** How long ago, coarse: `just now`, `5 min ago`, `2 h ago`, `3 d ago`; after a month the date. */
export function ago(at: string, now: number): string {
  const seconds = secondsBetween(at, now);
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return seconds < 30 * 86_400 ? `${Math.round(seconds / 86_400)} d ago` : day(new Date(at), new Date(now));
}

/** How far away, coarse: `in 5 min`, `in 2 h`; what has passed reads as `ago` has it. */
export function fromNow(at: string, now: number): string {
  const seconds = -secondsBetween(at, now);
  // A clock that is off by a moment makes nothing lie ahead.
  if (seconds < 5) return ago(at, now);
  if (seconds < 45) return "in a moment";
  if (seconds < 3570) return `in ${Math.max(1, Math.round(seconds / 60))} min`;
  if (seconds < 84_600) return `in ${Math.round(seconds / 3600)} h`;
  return `in ${Math.round(seconds / 86_400)} d`;
}

export function exact(at: string): string {
  return shaped(new Date(at), "exact");
}

/** The time of day to the second, as logs have it. */
export function clockTime(at: string | number): string {
  return shaped(new Date(at), "clock");
}

export function money(usd: number): string {
  return usd > 0 && usd < 0.01 ? "less than $0.01" : `$${usd.toFixed(2)}`;
}

export function count(value: number, one: string, many = `${one}s`): string {
  return `${value.toLocaleString()} ${value === 1 ? one : many}`;
}

/** The server counts no further. */
const MOST_COUNTED = 10_000;

/** How many items a list has: `1 run`, `340 runs`, `10,000+ runs`. */
export function total(value: number, one: string, many = `${one}s`): string {
  return value < MOST_COUNTED ? count(value, one, many) : `${MOST_COUNTED.toLocaleString()}+ ${many}`;
}

export function tokens(value: number): string {
  return value < 1000 ? `${value} tokens` : `${(value / 1000).toFixed(1)}k tokens`;
}

/** A key as text: `review_slides` → `Review slides`. */
export function humanise(key: string): string {
  const words = key.replaceAll(/[_-]+/g, " ").trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** When, with its weekday, in a zone; in the reader's when the browser does not know that zone. */
export function inZoneOf(at: string, timeZone: string | null): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "unknown";
  const place = timeZone !== null && isZone(timeZone) ? { timeZone } : inZone();
  return new Intl.DateTimeFormat(undefined, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    ...(date.getUTCSeconds() === 0 ? {} : { second: "2-digit" }),
    timeZoneName: "short",
    ...place,
  }).format(date);
}
