import { expect, test } from "vitest";

import { newSchedule, scheduleOf, scheduleTexts } from "./scheduleForm.ts";

const CRON = newSchedule("Europe/Berlin");
const INTERVAL = { ...CRON, kind: "interval" } as const;

test("a cron expression is sent with its zone and without an interval", () => {
  expect(scheduleOf({ ...CRON, cron: " 0 9 * * * " }).value).toEqual({
    cron: "0 9 * * *",
    timeZone: "Europe/Berlin",
    overlap: "SKIP",
    catchUp: "LATEST",
  });
});

test("an interval is sent in seconds, and the limit only where it applies", () => {
  const { value } = scheduleOf({ ...INTERVAL, every: "90", unit: "60", catchUp: "ALL", catchUpLimit: "5" });
  expect(value).toMatchObject({ intervalSeconds: 5400, catchUpLimit: 5 });
  expect(value).not.toHaveProperty("cron");
});

test.each(["", "1.5", "soon", "99999999999"])("the interval %j is refused at its field", (every) => {
  expect(Object.keys(scheduleOf({ ...INTERVAL, every, unit: "1" }).problems ?? {})).toEqual(["intervalSeconds"]);
});

test("an empty expression and a limit that is no number are refused at their fields", () => {
  const { problems } = scheduleOf({ ...CRON, cron: " ", catchUp: "ALL", catchUpLimit: "x" });
  expect(Object.keys(problems ?? {}).toSorted()).toEqual(["catchUpLimit", "cron"]);
});

test.each([
  [5400, "90", "60"],
  [7200, "2", "3600"],
  [86_400, "1", "86400"],
  [61, "61", "1"],
])("an interval of %i s shows as %s of %s s", (intervalSeconds, every, unit) => {
  const schedule = { cron: null, intervalSeconds, timeZone: "UTC", catchUpLimit: 100 } as const;
  expect(scheduleTexts({ ...schedule, overlap: "SKIP", catchUp: "LATEST" })).toMatchObject({
    kind: "interval",
    every,
    unit,
  });
});
