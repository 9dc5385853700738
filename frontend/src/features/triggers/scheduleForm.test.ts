import { expect, test } from "vitest";

import { fieldsOf } from "../../domain/start/schemaForm.ts";
import { newSchedule, scheduleOf, scheduleTexts, templatedInputs } from "./scheduleForm.ts";

const CRON = newSchedule("Europe/Berlin");
const INTERVAL = { ...CRON, kind: "interval" } as const;
const FIELDS = fieldsOf({
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    extra: { type: "object" },
  },
});

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

test("a template is sent as text, also where a number or an object is wanted", () => {
  const texts = {
    title: "On ${{ trigger.scheduled_at }}",
    count: "${{ trigger.n }}",
    extra: "${{ trigger.x }}",
    tags: "a",
  };
  expect(templatedInputs(FIELDS, texts)).toEqual({
    title: "On ${{ trigger.scheduled_at }}",
    count: "${{ trigger.n }}",
    extra: "${{ trigger.x }}",
    tags: ["a"],
  });
});

test("JSON with a template within stays JSON", () => {
  expect(templatedInputs(FIELDS, { extra: '{"at": "${{ trigger.scheduled_at }}"}' })).toEqual({
    extra: { at: "${{ trigger.scheduled_at }}" },
  });
});

test("inputs that were not touched, or have no field, are kept as they are", () => {
  const before = { title: "tea", count: "${{ trigger.n }}", hidden: 1 };
  const texts = { title: "coffee", count: "${{ trigger.n }}", tags: "", extra: "" };
  expect(templatedInputs(FIELDS, texts, before)).toEqual({ title: "coffee", count: "${{ trigger.n }}", hidden: 1 });
});
