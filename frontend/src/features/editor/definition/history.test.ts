import { expect, test } from "vitest";

import { started, step } from "./history.ts";

test("changes of one field in a row are one step back, and back can be taken back", () => {
  let now = started("a");
  for (const text of ["ab", "abc"]) now = step(now, { kind: "change", text, at: "name" });
  now = step(now, { kind: "change", text: "abc!", at: null });
  now = step(now, { kind: "undo" });
  expect(now.text).toBe("abc");
  now = step(now, { kind: "undo" });
  expect(now.text).toBe("a");
  expect(step(now, { kind: "undo" })).toBe(now);
  now = step(step(now, { kind: "redo" }), { kind: "redo" });
  expect(now.text).toBe("abc!");
  expect(step(step(now, { kind: "undo" }), { kind: "change", text: "other", at: null }).future).toEqual([]);
});
