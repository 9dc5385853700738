import { expect, test } from "vitest";

import { type Asked, BLOCK, type Line, LogLines, MOST, type Page, PAGE, type Read, wantedOf } from "./LogLines.ts";

function line(number: number, change: Partial<Line> = {}): Line {
  return { number, at: "2026-01-01T00:00:00Z", level: "INFO", text: `line ${number}`, ...change };
}

/** A server with a log of so many lines, which remembers what it was asked. */
function server(size: number): { read: Read; asked: Asked[]; end: Page } {
  const all = Array.from({ length: size }, (_, index) => line(index + 1));
  const asked: Asked[] = [];
  const read: Read = async (question) => {
    asked.push(question);
    const found = all.filter(({ text }) => text.includes(question.filter?.text ?? ""));
    const from = question.fromLine ?? Number(question.after ?? 0) + 1;
    const rest = found.filter(({ number }) => number >= from);
    const lines = rest.slice(0, question.first);
    const last = lines.at(-1);
    return {
      lines,
      total: found.length,
      end: last === undefined ? null : String(last.number),
      more: rest.length > lines.length,
    };
  };
  return { read, asked, end: { lines: all.slice(-PAGE), total: size, end: String(size), more: false } };
}

function numbers(log: LogLines): (number | undefined)[] {
  const { count, lineAt } = log.shown();
  return Array.from({ length: count }, (_, index) => lineAt(index)?.number);
}

test("only blocks that are looked at are read, and once", async () => {
  const { read, asked, end } = server(1000);
  const log = new LogLines(read, end);
  expect(log.total).toBe(1000);
  expect(log.shown().lineAt(0)).toBeUndefined();
  await Promise.all([log.need(0), log.need(1), log.need(1000 / BLOCK - 1)]);
  await log.need(3);
  expect(asked).toEqual([{ fromLine: 1, first: PAGE }]);
  expect(log.shown().lineAt(0)?.text).toBe("line 1");
});

test("streamed lines are added once, at the end", () => {
  const { read, end } = server(3);
  const log = new LogLines(read, end);
  const version = log.version();
  log.append([line(3), line(4)]);
  log.append([line(4)]);
  expect(numbers(log)).toEqual([1, 2, 3, 4]);
  expect(log.version()).not.toBe(version);
});

test("a search asks the server, page by page, and goes on with what is streamed", async () => {
  const { read, asked, end } = server(3000);
  const log = new LogLines(read, end);
  await log.search({ text: "line 1", levels: null });
  expect(log.shown().count).toBe(1111);
  expect(log.shown().lineAt(MOST)).toBeUndefined();
  await log.need(MOST / BLOCK);
  expect(log.shown().lineAt(MOST)?.text).toContain("line 1");
  await log.need(1100 / BLOCK);
  expect(asked).toHaveLength(3);
  log.append([line(3001, { text: "LINE 1 again" }), line(3002, { text: "else" })]);
  expect(log.shown().count).toBe(1112);
  expect(log.shown().lineAt(1111)?.number).toBe(3001);
  await log.search({ text: "", levels: null });
  expect(log.shown().count).toBe(3002);
});

test("an answer to an earlier search changes nothing", async () => {
  const { read, end } = server(20);
  const log = new LogLines(read, end);
  const first = log.search({ text: "line 1", levels: null });
  const second = log.search({ text: "line 2", levels: null });
  await Promise.all([first, second]);
  expect(numbers(log)).toEqual([2, 20]);
});

test("a line's place is known in the whole log, and among the lines that were found", async () => {
  const { read, asked, end } = server(3000);
  const log = new LogLines(read, end);
  expect(await log.indexOf(1)).toBe(0);
  expect(await log.indexOf(3001)).toBeNull();
  const search = log.search({ text: "line 1", levels: null });
  // While the first page is still on its way, and past its end.
  const place = log.indexOf(1499);
  await search;
  expect(await place).toBe(610);
  expect(log.shown().lineAt(610)?.number).toBe(1499);
  expect(await log.indexOf(2000)).toBeNull();
  expect(asked).toHaveLength(3);
});

test("the address names the text and the least severe level", () => {
  expect(wantedOf({})).toEqual({ text: "", levels: null });
  expect(wantedOf({ find: "tea", level: "warning" })).toEqual({ text: "tea", levels: ["ERROR", "WARNING"] });
  expect(wantedOf({ level: "info" }).levels).toHaveLength(3);
});

test("the whole text is read in pages; none of it when one fails", async () => {
  const { read, asked, end } = server(1200);
  const text = await new LogLines(read, end).text();
  expect(text?.trimEnd().split("\n")).toHaveLength(1200);
  expect(text).toContain("2026-01-01T00:00:00Z INFO line 1200\n");
  expect(asked).toHaveLength(3);
  expect(await new LogLines(async () => null, end).text()).toBeNull();
});
