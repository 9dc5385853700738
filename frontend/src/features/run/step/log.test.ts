import { expect, test } from "vitest";

import { appendLines, isCut, MAX_LINES, type Log, matching, prependLines } from "./log.ts";

const line = (text: string) => ({ at: "2026-01-01T00:00:00Z", level: "INFO", text });
const EMPTY: Log = { lines: [], cursor: null, before: null, total: 0 };

test("lines are added once, the oldest dropped", () => {
  let log = appendLines(EMPTY, [line("a")], "1");
  log = appendLines(log, [line("a")], "1");
  expect(log).toMatchObject({ lines: [line("a")], total: 1 });
  const many = Array.from({ length: MAX_LINES }, (_, number) => line(`${number}`));
  expect(isCut(log, many)).toBe(true);
  expect(appendLines(log, many, "2").lines[0]?.text).toBe("0");
});

test("earlier lines come before, and a search leaves what holds its words", () => {
  const log = prependLines(appendLines(EMPTY, [line("Second tea")], "1"), [line("first")], "0");
  expect(log).toMatchObject({ before: "0", cursor: "1" });
  expect(matching(log.lines, " TEA ").map(({ text }) => text)).toEqual(["Second tea"]);
  expect(matching(log.lines, "")).toHaveLength(2);
});
