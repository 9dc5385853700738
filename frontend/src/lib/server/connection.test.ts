// @vitest-environment happy-dom
import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { lostSince, reportStream, useConnection } from "./connection.ts";

const START = Date.parse("2026-11-20T10:00:00.000Z");
const [one, other] = [Symbol("one"), Symbol("other")];

beforeEach(() => vi.useFakeTimers({ now: START }));
afterEach(() => {
  cleanup();
  act(() => [one, other].forEach((stream) => reportStream(stream, null)));
  vi.useRealTimers();
});

test("what is noticed late is as old as the last sign of life, until every stream is back", () => {
  act(() => [one, other].forEach((stream) => reportStream(stream, "live")));
  const { result } = renderHook(() => [useConnection(({ live }) => live), useConnection(({ freshAt }) => freshAt)]);
  vi.setSystemTime(START + 8 * 3_600_000);
  act(() => lostSince(START));
  expect(result.current).toEqual(["reconnecting", START]);
  act(() => reportStream(one, "reconnecting"));
  act(() => reportStream(one, "live"));
  expect(result.current).toEqual(["reconnecting", START]);
  act(() => reportStream(other, "live"));
  expect(result.current[0]).toBe("live");
});

test("nothing is lost where nothing is followed", () => {
  const { result } = renderHook(() => useConnection(({ live }) => live));
  act(() => lostSince(START));
  expect(result.current).toBeNull();
});
