// @vitest-environment happy-dom
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { ASLEEP_MS, onWake } from "./wake.ts";

const START = Date.parse("2026-11-20T10:00:00.000Z");
const woke = vi.fn<(ranAt: number) => void>();
let hidden = false;

beforeAll(() => {
  vi.useFakeTimers({ now: START });
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  onWake(woke);
});
afterAll(() => {
  vi.useRealTimers();
  Reflect.deleteProperty(document, "hidden");
});

test("calls back when time has passed in which the page did not run, and only then", () => {
  vi.advanceTimersByTime(60_000);
  expect(woke).not.toHaveBeenCalled();
  const before = Date.now();
  vi.setSystemTime(before + 8 * 3_600_000);
  vi.advanceTimersByTime(1000);
  expect(woke.mock.calls).toEqual([[before]]);
});

test("leaves a hidden tab alone until it is looked at", () => {
  woke.mockClear();
  hidden = true;
  const before = Date.now();
  vi.setSystemTime(before + ASLEEP_MS);
  vi.advanceTimersByTime(3000);
  expect(woke).not.toHaveBeenCalled();
  hidden = false;
  document.dispatchEvent(new Event("visibilitychange"));
  document.dispatchEvent(new Event("visibilitychange"));
  expect(woke.mock.calls).toEqual([[before]]);
});
