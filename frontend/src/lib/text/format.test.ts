import { expect, test } from "vitest";

import { ago, bytes, clockTime, count, duration, exact, humanise, money, tokens, total, when } from "./format.ts";

test.each([
  [0, "0 ms"],
  [0.0123, "12 ms"],
  [0.096, "0.1 s"],
  [0.44, "0.4 s"],
  [12.3, "12 s"],
  [59.4, "59 s"],
  [60, "1 min"],
  [185, "3 min 5 s"],
  [7800, "2 h 10 min"],
  [90_000, "1 d 1 h"],
  [-1, "0 ms"],
])("%d seconds are %s", (seconds, text) => {
  expect(duration(seconds)).toBe(text);
});

test.each([
  [0, "0 B"],
  [999, "999 B"],
  [1500, "1.5 kB"],
  [52_200, "52.2 kB"],
  [10_000_000, "10.0 MB"],
])("%d bytes are %s", (size, text) => {
  expect(bytes(size)).toBe(text);
});

test("the rest", () => {
  expect(money(0.001)).toBe("less than $0.01");
  expect(money(1.5)).toBe("$1.50");
  expect(count(1, "step")).toBe("1 step");
  expect(count(0, "step")).toBe("0 steps");
  expect(tokens(12_100)).toBe("12.1k tokens");
  expect(humanise("review_slides")).toBe("Review slides");
  const now = Date.parse("2026-01-01T12:00:00Z");
  expect(ago("2026-01-01T11:59:50Z", now)).toBe("just now");
  expect(ago("2026-01-01T11:00:00Z", now)).toBe("1 h ago");
  expect(ago("2025-12-03T12:00:00Z", now)).toBe("29 d ago");
  expect(ago("2025-12-01T12:00:00Z", now)).toBe("Dec 1, 2025");
  expect(total(340, "run")).toBe("340 runs");
  expect(total(10_000, "entry", "entries")).toBe("10,000+ entries");
});

test("what is no moment is unknown, and ends no page", () => {
  for (const at of ["", "tomorrow", "10000-01-01T00:00:00Z", "2026-13-45"]) {
    expect(exact(at)).toBe("unknown");
    expect(clockTime(at)).toBe("unknown");
    expect(when(at, Date.now())).toContain("unknown");
  }
});
