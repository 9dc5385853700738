// What a schedule means, in words. Expressions without a short sentence have none; when they fire, the server says.

import { duration } from "../../lib/text/format.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const NAMED: Record<string, string> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};
const WEEKDAYS = "1,2,3,4,5";

export interface When {
  cron: string | null;
  intervalSeconds: number | null;
}

/** The schedule as a phrase, such as `Every weekday at 06:30`; null for an expression that has none. */
export function scheduleWords({ cron, intervalSeconds }: When): string | null {
  if (intervalSeconds !== null) return intervalWords(intervalSeconds);
  const text = (cron ?? "").trim();
  const fields = (NAMED[text.toLowerCase()] ?? text).split(/\s+/);
  if (fields.length === 5) return fiveWords(fields);
  const [seconds = "", ...rest] = fields;
  if (fields.length !== 6) return null;
  if (seconds === "0") return fiveWords(rest);
  if (rest.some((field) => field !== "*")) return null;
  if (seconds === "*") return "Every second";
  const every = stepOf(seconds, 60);
  return every === null ? null : `Every ${every} s`;
}

function intervalWords(seconds: number): string {
  const [, unit] =
    (
      [
        [1, "second"],
        [60, "minute"],
        [3600, "hour"],
      ] as const
    ).find(([one]) => one === seconds) ?? [];
  if (unit !== undefined) return `Every ${unit}`;
  return seconds < 60 ? `Every ${seconds} s` : `Every ${duration(seconds)}`;
}

function fiveWords([minute = "", hour = "", day = "", month = "", weekday = ""]: readonly string[]): string | null {
  const daily = day === "*" && month === "*" && weekday === "*";
  if (daily && hour === "*") return hourlyWords(minute);
  const at = Number(minute);
  if (!/^\d{1,2}$/.test(minute) || at > 59) return null;
  const everyHours = daily ? stepOf(hour, 24) : null;
  if (everyHours !== null) return `Every ${everyHours} h${at === 0 ? "" : ` at minute ${at}`}`;
  if (!/^\d{1,2}(,\d{1,2})*$/.test(hour)) return null;
  const hours = hour.split(",").map(Number);
  if (hours.some((one) => one > 23)) return null;
  const times = listed(hours.toSorted((one, other) => one - other).map((one) => `${two(one)}:${two(at)}`));
  const days = daysWords(day, month, weekday);
  return days === null ? null : `${days} at ${times}`;
}

function hourlyWords(minute: string): string | null {
  if (minute === "*") return "Every minute";
  const every = stepOf(minute, 60);
  if (every !== null) return `Every ${every} min`;
  if (!/^\d{1,2}$/.test(minute) || Number(minute) > 59) return null;
  return Number(minute) === 0 ? "Every hour" : `Every hour at minute ${Number(minute)}`;
}

function daysWords(day: string, month: string, weekday: string): string | null {
  if (day === "*" && month === "*") {
    const days = weekdaysOf(weekday);
    if (days === null) return null;
    if (days.length === 7) return "Every day";
    return days.join(",") === WEEKDAYS ? "Every weekday" : `Every ${listed(days.map((one) => DAYS[one] ?? ""))}`;
  }
  if (weekday !== "*") return null;
  if (month === "*" && day.toUpperCase() === "L") return "On the last day of every month";
  if (!/^\d{1,2}$/.test(day) || Number(day) < 1 || Number(day) > 31) return null;
  if (month === "*") return `On day ${Number(day)} of every month`;
  const number = numberOf(month, MONTHS, 1);
  return number === null || number < 1 || number > 12 ? null : `Every year on ${Number(day)} ${MONTHS[number - 1]}`;
}

/** The days of a list or range such as `MON-FRI`, Sunday as 0; null for anything else. */
function weekdaysOf(text: string): number[] | null {
  if (text === "*") return [0, 1, 2, 3, 4, 5, 6];
  const days = new Set<number>();
  for (const part of text.split(",")) {
    const [from, to, ...more] = part.split("-").map((name) => numberOf(name, DAYS.slice(0, 7), 0));
    const until = to === undefined ? from : to;
    if (from === undefined || from === null || until === undefined || until === null || more.length > 0) return null;
    if (from > until || until > 7) return null;
    for (let one = from; one <= until; one += 1) days.add(one % 7);
  }
  return [...days].toSorted((one, other) => one - other);
}

function numberOf(text: string, names: readonly string[], first: number): number | null {
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const place = names.findIndex((name) => name.slice(0, 3).toUpperCase() === text.toUpperCase());
  return place < 0 ? null : place + first;
}

/** The step of a field such as `*` + `/15` when it divides the whole evenly; otherwise its gaps differ. */
function stepOf(text: string, whole: number): number | null {
  const step = Number(/^\*\/(\d{1,2})$/.exec(text)?.[1] ?? 0);
  return step > 1 && whole % step === 0 ? step : null;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
