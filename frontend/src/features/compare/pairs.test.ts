import { expect, test } from "vitest";

import { filePairs, pairs, readable, tookSeconds } from "./pairs.ts";

const step = (key: string, ...seconds: number[]) => ({
  key,
  attempts: seconds.map((second) => ({
    startedAt: "2026-01-01T00:00:00Z",
    endedAt: new Date(Date.parse("2026-01-01T00:00:00Z") + second * 1000).toISOString(),
  })),
});

test("steps stand beside their like, new ones where they came in", () => {
  const found = pairs([step("read"), step("write")], [step("read"), step("check"), step("write"), step("send")]);
  expect(found.map(({ key, a, b }) => [key, a !== null, b !== null])).toEqual([
    ["read", true, true],
    ["check", false, true],
    ["write", true, true],
    ["send", false, true],
  ]);
});

test("attempts add up; a step that has not run has no duration", () => {
  expect(tookSeconds(step("a", 1, 2))).toBe(3);
  expect(tookSeconds(step("a"))).toBeNull();
  expect(tookSeconds({ key: "a", attempts: [{ startedAt: "2026-01-01T00:00:00Z", endedAt: null }] })).toBeNull();
});

const files = (...names: string[]) => names.map((name) => ({ id: `art_${name}`, name }));
const made = (key: string, ...names: string[]) => ({ ...step(key), artifacts: files(...names) });

test("files are paired by name within a step, the others by their order", () => {
  const found = filePairs(
    pairs([made("make", "tea.pdf", "notes.md"), made("old", "x")], [made("make", "notes.md", "mint.pdf", "more.md")]),
  );
  expect(found.map(({ a, b }) => [a?.name, b?.name])).toEqual([
    ["tea.pdf", "mint.pdf"],
    ["notes.md", "notes.md"],
    [undefined, "more.md"],
    ["x", undefined],
  ]);
  expect(new Set(found.map(({ key }) => key)).size).toBe(4);
});

test("values show names of files in place of ids, and no digests", () => {
  const digest = "0123456789abcdef".repeat(4);
  const value = {
    file: "art_1",
    all: ["art_1", "art_2", 3],
    digest,
    hash: `sha256:${digest}`,
    text: "art_1!",
    none: null,
  };
  expect(readable(value, new Map([["art_1", "tea.pdf"]]))).toEqual({
    file: "tea.pdf",
    all: ["tea.pdf", "art_2", 3],
    text: "art_1!",
    none: null,
  });
});
