// @vitest-environment happy-dom
import { renderHook } from "@testing-library/react";
import { expect, test } from "vitest";

import { announceRuns, type Changes, useRunChanges } from "./runChanges.ts";

const AGAIN: Changes = { runs: [], deletedIds: [], more: true };
const ONE: Changes = { runs: [{ id: "run_1" }], deletedIds: [], more: false };
const GONE: Changes = { runs: [], deletedIds: ["run_1"], more: false };

function listed(): { heard: Changes[]; leave: () => void } {
  const heard: Changes[] = [];
  const { unmount } = renderHook(() => useRunChanges((changes) => void heard.push(changes)));
  return { heard, leave: unmount };
}

test("a list is read again when its changes begin to arrive", () => {
  const { heard, leave } = listed();
  announceRuns({ runs: [], deletedIds: [], more: false });
  announceRuns(ONE);
  announceRuns(GONE);
  leave();
  expect(heard).toEqual([AGAIN, ONE, GONE]);
});

test("a list mounted after a change is read again, once", () => {
  announceRuns(ONE);
  const first = listed();
  first.leave();
  const second = listed();
  second.leave();
  expect(first.heard).toEqual([AGAIN]);
  expect(second.heard).toEqual([]);
});
