import { expect, test } from "vitest";

import { aStep } from "../../../testing/runs.ts";
import { canFold, foldsByItself, rowsOf } from "./fold.ts";

const NONE = new Set<string>();

function steps(states: string) {
  return states
    .split("")
    .map((letter, index) =>
      aStep(`step_${index}`, { state: letter === "s" ? "SUCCEEDED" : letter === "f" ? "FAILED" : "PENDING" }),
    );
}

test("a stretch that succeeded is one row; what failed or was not reached is not folded", () => {
  expect(rowsOf(steps("sssssf---"), "step_5", NONE)).toEqual([
    { from: 0, to: 4 },
    { from: 5, to: 5 },
    { from: 6, to: 6 },
    { from: 7, to: 7 },
    { from: 8, to: 8 },
  ]);
});

test("the selected step keeps its row, and what is left of a stretch may be too short to fold", () => {
  expect(rowsOf(steps("ssssssss"), "step_5", NONE)).toEqual([
    { from: 0, to: 4 },
    { from: 5, to: 5 },
    { from: 6, to: 6 },
    { from: 7, to: 7 },
  ]);
});

test("an unfolded stretch stays so when the selection moves within it", () => {
  const unfolded = new Set(["step_0", "step_1", "step_2", "step_3"]);
  expect(rowsOf(steps("ssssfssss"), "step_2", unfolded).map(({ from, to }) => to - from)).toEqual([0, 0, 0, 0, 0, 3]);
});

test("a long run that failed is folded without being asked", () => {
  expect(canFold(steps("sssf"))).toBe(false);
  expect(canFold(steps("ssssf"))).toBe(true);
  expect(foldsByItself(steps("ssssssssssssssf"), "FAILED")).toBe(true);
  expect(foldsByItself(steps("ssssssssssssssf"), "RUNNING")).toBe(false);
  expect(foldsByItself(steps("sssssf"), "FAILED")).toBe(false);
});
