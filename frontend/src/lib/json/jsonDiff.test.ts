import { expect, test } from "vitest";

import { differences } from "./jsonDiff.ts";

test("only differing leaves are reported, by their path", () => {
  const before = { title: "A", deep: { same: 1, count: 2 }, list: [1, 2], gone: true };
  const after = { title: "B", deep: { same: 1, count: 3 }, list: [1, 2, 3], fresh: null };
  expect(differences(before, after)).toEqual([
    { path: "title", before: "A", after: "B" },
    { path: "deep.count", before: 2, after: 3 },
    { path: "list.2", after: 3 },
    { path: "gone", before: true },
    { path: "fresh", after: null },
  ]);
});

test("equal values differ nowhere; values of other kinds differ as a whole", () => {
  expect(differences({ a: [1] }, { a: [1] })).toEqual([]);
  expect(differences({ a: [1] }, { a: { 0: 1 } })).toEqual([{ path: "a", before: [1], after: { 0: 1 } }]);
  expect(differences(null, { a: 1 })).toEqual([{ path: "", before: null, after: { a: 1 } }]);
});
