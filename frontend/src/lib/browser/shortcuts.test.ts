// @vitest-environment happy-dom
import { cleanup, renderHook } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { isBusy, listenForKeys, offeredActions, useActions } from "./shortcuts.ts";
import { useShortcutsSetting } from "./shortcutsSetting.ts";

let stop: () => void;
beforeEach(() => {
  stop = listenForKeys();
});
afterEach(() => {
  stop();
  cleanup();
  localStorage.clear();
  document.body.innerHTML = "";
});

test("a key acts, and of two that want it the one offered last", async () => {
  const [page, list] = [vi.fn(), vi.fn()];
  renderHook(() => useActions("Everywhere", [{ keys: "r", says: "Refresh", act: page }]));
  const shown = renderHook(() => useActions("Here", [{ keys: "r", says: "Resume", act: list }]));
  await userEvent.keyboard("r");
  expect([page, list].map((act) => act.mock.calls.length)).toEqual([0, 1]);
  shown.unmount();
  await userEvent.keyboard("r");
  expect(page).toHaveBeenCalledOnce();
  expect(offeredActions().map(({ name }) => name)).toEqual(["Everywhere"]);
});

test("two keys one after the other act, but not with another between them", async () => {
  const act = vi.fn();
  renderHook(() => useActions("Go to", [{ keys: "g r", says: "Runs", act }]));
  await userEvent.keyboard("gxr");
  expect(act).not.toHaveBeenCalled();
  await userEvent.keyboard("gr");
  expect(act).toHaveBeenCalledOnce();
});

test("nothing acts while somebody types, in a dialog, with Ctrl, or when it is switched off", async () => {
  const act = vi.fn();
  renderHook(() => useActions("Here", [{ keys: "x", says: "Cancel", act }]));
  document.body.innerHTML = '<input id="text"><input id="tick" type="checkbox"><dialog></dialog>';
  await userEvent.type(document.querySelector("#text") as HTMLElement, "x");
  await userEvent.keyboard("{Control>}x{/Control}");
  (document.activeElement as HTMLElement).blur();
  document.querySelector("dialog")?.setAttribute("open", "");
  await userEvent.keyboard("x");
  document.querySelector("dialog")?.removeAttribute("open");
  const setting = renderHook(() => useShortcutsSetting());
  setting.result.current[1](false);
  await userEvent.keyboard("x");
  expect(act).not.toHaveBeenCalled();
  setting.result.current[1](true);
  await userEvent.keyboard("x");
  expect(act).toHaveBeenCalledOnce();
  expect(isBusy(document.querySelector("#tick"))).toBe(false);
});
