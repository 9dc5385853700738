import { expect, test } from "vitest";

import { scheduleWords } from "./scheduleWords.ts";

test.each([
  ["* * * * *", "Every minute"],
  ["*/15 * * * *", "Every 15 min"],
  ["0 * * * *", "Every hour"],
  ["20 * * * *", "Every hour at minute 20"],
  ["0 */6 * * *", "Every 6 h"],
  ["30 6 * * MON-FRI", "Every weekday at 06:30"],
  ["30 6 * * 1-5", "Every weekday at 06:30"],
  ["0 9,17 * * *", "Every day at 09:00 and 17:00"],
  ["0 9 * * 7", "Every Sunday at 09:00"],
  ["0 9 * * sat,sun", "Every Sunday and Saturday at 09:00"],
  ["5 4 1 * *", "On day 1 of every month at 04:05"],
  ["5 4 L * *", "On the last day of every month at 04:05"],
  ["0 0 24 DEC *", "Every year on 24 December at 00:00"],
  ["@daily", "Every day at 00:00"],
  ["0 30 6 * * *", "Every day at 06:30"],
  ["*/10 * * * * *", "Every 10 s"],
])("%s reads %s", (cron, words) => {
  expect(scheduleWords({ cron, intervalSeconds: null })).toBe(words);
});

test.each([
  "",
  "nonsense",
  "61 * * * *",
  "0 25 * * *",
  "0 9 32 * *",
  "0 9 1 13 *",
  "0 9 * * FRI-MON",
  "0 9 * * MON#1",
  // Fires on the 13th and on each Friday: no short sentence says so.
  "0 9 13 * FRI",
  // Gaps differ at the full hour.
  "*/7 * * * *",
  "15 30 6 * * *",
])("%s has no words", (cron) => {
  expect(scheduleWords({ cron, intervalSeconds: null })).toBeNull();
});

test.each([
  [1, "Every second"],
  [45, "Every 45 s"],
  [60, "Every minute"],
  [5400, "Every 1 h 30 min"],
  [86_400, "Every 1 d"],
])("an interval of %i s reads %s", (intervalSeconds, words) => {
  expect(scheduleWords({ cron: null, intervalSeconds })).toBe(words);
});
