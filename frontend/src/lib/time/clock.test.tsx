// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { setServerTime, useNow } from "./clock.ts";
import { reportStream } from "../server/connection.ts";

const START = Date.parse("2026-11-20T10:00:00.000Z");
const stream = Symbol("stream");

beforeEach(() => {
  vi.useFakeTimers({ now: START });
  // The server's clock is an hour ahead.
  setServerTime("2026-11-20T11:00:00.000Z");
});
afterEach(() => {
  cleanup();
  act(() => reportStream(stream, null));
  vi.useRealTimers();
});

function Clock({ ticking }: { ticking: boolean }): ReactNode {
  return <time>{new Date(useNow(ticking)).toISOString().slice(11, 19)}</time>;
}

function pass(milliseconds: number): void {
  act(() => {
    vi.advanceTimersByTime(milliseconds);
  });
}

function shown(): string {
  return screen.getByRole("time").textContent ?? "";
}

test.each([true, false])("stands still at the moment the connection was lost (ticking: %s)", (ticking) => {
  act(() => reportStream(stream, "live"));
  const { rerender } = render(<Clock ticking={ticking} />);
  pass(2000);
  rerender(<Clock ticking={ticking} />);
  expect(shown()).toBe("11:00:02");

  act(() => reportStream(stream, "reconnecting"));
  pass(5000);
  rerender(<Clock ticking={ticking} />);
  expect(shown()).toBe("11:00:02");

  // Back again, it shows now at once.
  act(() => reportStream(stream, "live"));
  expect(shown()).toBe("11:00:07");
  pass(1000);
  rerender(<Clock ticking={ticking} />);
  expect(shown()).toBe("11:00:08");
});
