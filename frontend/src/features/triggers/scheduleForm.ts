// What the schedule form holds, and what it sends.

import type { ScheduleInput } from "./triggers.generated.ts";
import type { SchedulePartsFragment } from "../../domain/triggers/triggers.generated.ts";

export const UNITS = [
  ["1", "seconds"],
  ["60", "minutes"],
  ["3600", "hours"],
  ["86400", "days"],
] as const;

export interface ScheduleTexts {
  kind: "cron" | "interval";
  cron: string;
  /** The interval in its unit, as typed. */
  every: string;
  /** Seconds of the interval's unit. */
  unit: string;
  timeZone: string;
  overlap: SchedulePartsFragment["overlap"];
  catchUp: SchedulePartsFragment["catchUp"];
  catchUpLimit: string;
}

export function newSchedule(timeZone: string): ScheduleTexts {
  return {
    kind: "cron",
    cron: "0 9 * * MON-FRI",
    every: "1",
    unit: "3600",
    timeZone,
    overlap: "SKIP",
    catchUp: "LATEST",
    catchUpLimit: "100",
  };
}

/** The texts of a schedule; an interval in the largest unit that divides it. */
export function scheduleTexts(schedule: SchedulePartsFragment): ScheduleTexts {
  const { cron, intervalSeconds, timeZone, overlap, catchUp, catchUpLimit } = schedule;
  const shown = newSchedule(timeZone);
  const seconds = intervalSeconds ?? 3600;
  const [unit] = UNITS.findLast(([size]) => seconds % Number(size) === 0) ?? UNITS[0];
  return {
    ...shown,
    kind: cron === null ? "interval" : "cron",
    cron: cron ?? shown.cron,
    every: String(seconds / Number(unit)),
    unit,
    overlap,
    catchUp,
    catchUpLimit: String(catchUpLimit),
  };
}

export type Read<Value> = { value: Value; problems: null } | { value: null; problems: Record<string, string> };

/** The schedule to send, or what cannot be read as a number. The server checks the rest. */
export function scheduleOf(texts: ScheduleTexts): Read<ScheduleInput> {
  const { kind, cron, timeZone, overlap, catchUp } = texts;
  const problems: Record<string, string> = {};
  const seconds = Number(texts.every.trim()) * Number(texts.unit);
  // A GraphQL Int has 32 bits; more is refused as a whole instead of at its field.
  if (kind === "interval" && !(texts.every.trim() !== "" && Number.isInteger(seconds) && seconds < 2 ** 31))
    problems["intervalSeconds"] = "Enter a whole number of seconds, minutes, hours or days.";
  const limit = Number(texts.catchUpLimit.trim());
  if (catchUp === "ALL" && !(texts.catchUpLimit.trim() !== "" && Number.isInteger(limit) && Math.abs(limit) < 2 ** 31))
    problems["catchUpLimit"] = "Enter a whole number.";
  if (kind === "cron" && cron.trim() === "") problems["cron"] = "Required.";
  if (Object.keys(problems).length > 0) return { value: null, problems };
  return {
    value: {
      ...(kind === "cron" ? { cron: cron.trim() } : { intervalSeconds: seconds }),
      timeZone,
      overlap,
      catchUp,
      ...(catchUp === "ALL" ? { catchUpLimit: limit } : {}),
    },
    problems: null,
  };
}

/** What decides when a schedule fires; null while it cannot be read. */
export function firesBy(texts: ScheduleTexts): ScheduleInput | null {
  return scheduleOf({ ...texts, overlap: "SKIP", catchUp: "LATEST" }).value;
}
