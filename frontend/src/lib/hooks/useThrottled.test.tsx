// @vitest-environment happy-dom
import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";

import { useThrottled } from "./useThrottled.ts";

function pass(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

test("the first change shows at once, quick ones once in a while, and the last always", () => {
  vi.useFakeTimers();
  const { result, rerender } = renderHook(({ value }) => useThrottled(value, 1000), { initialProps: { value: "a" } });
  rerender({ value: "b" });
  pass(1);
  expect(result.current).toBe("b");
  for (const value of ["c", "d", "e"]) {
    rerender({ value });
    pass(200);
  }
  expect(result.current).toBe("b");
  pass(400);
  expect(result.current).toBe("e");
  rerender({ value: "f" });
  pass(1000);
  expect(result.current).toBe("f");
  vi.useRealTimers();
});
