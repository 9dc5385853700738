// Actions of the current page and their shortcuts. Components register actions while mounted; one listener handles
// keys, and the palette and the shortcut sheet list the same actions.

import { useEffect } from "react";

import { shortcutsOn } from "./shortcutsSetting.ts";
import { useLatest } from "../hooks/useLatest.ts";

export interface Action {
  /** As `KeyboardEvent.key` says it, two with a space between for one after the other; null has no key. */
  keys: string | null;
  /** What it does, for the palette and the sheet. */
  says: string;
  act: () => void;
  /** Movement: listed in the sheet, not in the palette. */
  quiet?: boolean;
}

export interface ActionGroup {
  name: string;
  actions: readonly Action[];
}

/** A second key must follow the first within this time. */
export const SEQUENCE_MS = 1200;

const groups = new Map<symbol, () => ActionGroup>();

/** Registers actions while the component is mounted; of two with the same keys the last one wins. */
export function useActions(name: string, actions: readonly Action[]): void {
  const latest = useLatest({ name, actions });
  useEffect(() => {
    const key = Symbol(name);
    groups.set(key, () => latest.current);
    return () => {
      groups.delete(key);
    };
  }, [name, latest]);
}

/** All registered actions, last first; groups with the same name are merged. */
export function offeredActions(): ActionGroup[] {
  const found = new Map<string, Action[]>();
  for (const { name, actions } of [...groups.values()].map((group) => group()).toReversed()) {
    found.set(name, [...(found.get(name) ?? []), ...actions]);
  }
  return [...found].map(([name, actions]) => ({ name, actions }));
}

/** Whether the focused element takes the keys: a text field has the focus, or a dialog is open. */
export function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])")
  );
}

/** Handles keys until the returned function is called. */
export function listenForKeys(): () => void {
  let first: { key: string; at: number } | null = null;

  function pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!shortcutsOn() || isBusy(event.target)) return;
    // Arrows belong to the focused element; the page uses them only without one.
    if (event.key.startsWith("Arrow") && event.target !== document.body) return;
    const all = offeredActions().flatMap(({ actions }) => actions);
    const whole = first !== null && Date.now() - first.at < SEQUENCE_MS ? `${first.key} ${event.key}` : null;
    const found = all.find(({ keys }) => keys !== null && keys === whole) ?? all.find(({ keys }) => keys === event.key);
    first =
      found === undefined && all.some(({ keys }) => keys?.startsWith(`${event.key} `))
        ? { key: event.key, at: Date.now() }
        : null;
    if (found === undefined) return;
    event.preventDefault();
    found.act();
  }

  addEventListener("keydown", pressed);
  return () => removeEventListener("keydown", pressed);
}
