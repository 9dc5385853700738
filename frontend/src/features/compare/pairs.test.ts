import { expect, test } from "vitest";

import { pairs, tookSeconds } from "./pairs.ts";

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
