import { expect, test } from "vitest";

import { countChanges, folded, lineDiff, sideBySide } from "./lineDiff.ts";

const OLD = "a\nb\nc\nd\ne\nf\ng\nurl: one two\nh\n";
const NOW = "a\nb\nc\nd\ne\nf\ng\nurl: one three\nh\ni\n";

test("a changed line tells the words that differ", () => {
  const lines = lineDiff(OLD, NOW);
  expect(
    lines
      .filter(({ kind }) => kind !== "same")
      .map(({ kind, old, now, parts }) => [
        kind,
        old,
        now,
        parts.filter(({ changed }) => changed).map(({ text }) => text),
      ]),
  ).toEqual([
    ["removed", 8, null, ["two"]],
    ["added", null, 8, ["three"]],
    ["added", null, 10, []],
  ]);
  expect(countChanges(lines)).toEqual({ added: 2, removed: 1 });
});

test("what is far from any change is folded", () => {
  expect(
    folded(lineDiff(OLD, NOW)).map((line) =>
      typeof line === "number" ? line : line.parts.map(({ text }) => text).join(""),
    ),
  ).toEqual([4, "e", "f", "g", "url: one two", "url: one three", "h", "i"]);
  expect(folded(lineDiff(OLD, OLD))).toEqual([8 + 1]);
});

test("side by side, what came stands beside what went", () => {
  const rows = sideBySide(lineDiff(OLD, NOW)).map((row) =>
    typeof row === "number" ? row : row.map((line) => line?.kind ?? null),
  );
  expect(rows.slice(-3)).toEqual([
    ["removed", "added"],
    ["same", "same"],
    [null, "added"],
  ]);
});

test("texts that have nothing in common are not lined up, and neither are thousands of changed lines compared word by word", () => {
  const [before, after] = ["old", "new"].map((word) =>
    Array.from({ length: 30_000 }, (_, at) => `${word} ${at} of a line`).join("\n"),
  ) as [string, string];
  const lines = lineDiff(before, after);
  expect(countChanges(lines)).toEqual({ added: 30_000, removed: 30_000 });
  expect(sideBySide(folded(lines))).toHaveLength(30_000);
  // Half a second of work. Minutes, and the runner's time limit, if it grew with the square.
});
