import { expect, test } from "vitest";

import { initialHistory, historyReducer } from "./history.ts";

test("changes of one field in a row are undone in one step, and an undo can be redone", () => {
  let now = initialHistory("a");
  for (const text of ["ab", "abc"]) now = historyReducer(now, { kind: "change", text, at: "name" });
  now = historyReducer(now, { kind: "change", text: "abc!", at: null });
  now = historyReducer(now, { kind: "undo" });
  expect(now.text).toBe("abc");
  now = historyReducer(now, { kind: "undo" });
  expect(now.text).toBe("a");
  expect(historyReducer(now, { kind: "undo" })).toBe(now);
  now = historyReducer(historyReducer(now, { kind: "redo" }), { kind: "redo" });
  expect(now.text).toBe("abc!");
  expect(
    historyReducer(historyReducer(now, { kind: "undo" }), { kind: "change", text: "other", at: null }).future,
  ).toEqual([]);
});
