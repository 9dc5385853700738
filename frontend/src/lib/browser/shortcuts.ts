// What can be done on the page that shows, and the keys for it. Components say what they offer for as long as they are
// shown; one listener acts on keys, the palette and the sheet of keys list the same.

import { useEffect } from "react";

import { shortcutsOn } from "./shortcutsSetting.ts";
import { useLatest } from "../hooks/useLatest.ts";

export interface Action {
  /** As `KeyboardEvent.key` says it, two with a space between for one after the other; null has no key. */
  keys: string | null;
  /** What it does, for the palette and the sheet. */
  says: string;
  act: () => void;
  /** Moving about, which the sheet tells and the palette has no use for. */
  quiet?: boolean;
}

export interface ActionGroup {
  name: string;
  actions: readonly Action[];
}

/** A second key must follow the first within this time. */
export const SEQUENCE_MS = 1200;

const groups = new Map<symbol, () => ActionGroup>();

/** Offers actions while the component shows; of two with the same keys the one offered last counts. */
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

/** All that is offered now, what was offered last first; groups of one name as one. */
export function offeredActions(): ActionGroup[] {
  const found = new Map<string, Action[]>();
  for (const { name, actions } of [...groups.values()].map((group) => group()).toReversed()) {
    found.set(name, [...(found.get(name) ?? []), ...actions]);
  }
  return [...found].map(([name, actions]) => ({ name, actions }));
}

/** Whether keys belong to what has the focus: somebody types there, or a dialog is open. */
export function isBusy(target: EventTarget | null): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  return (
    target.isContentEditable ||
    target.matches("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])")
  );
}

/** Acts on keys until the returned function is called. */
export function listenForKeys(): () => void {
  let first: { key: string; at: number } | null = null;

  function pressed(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!shortcutsOn() || isBusy(event.target)) return;
    // Arrows scroll and move within what has the focus; they are the page's only where nothing has it.
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
