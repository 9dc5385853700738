// The setting for single-key shortcuts, stored in this browser (WCAG 2.1.4 requires a way to switch them off).

import { useSyncExternalStore } from "react";

const KEY = "packline.shortcuts";
const listeners = new Set<() => void>();

export function shortcutsOn(): boolean {
  return localStorage.getItem(KEY) !== "off";
}

function set(on: boolean): void {
  if (on) localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, "off");
  for (const listener of listeners) listener();
}

/** The setting and what changes it. */
export function useShortcutsSetting(): [boolean, (on: boolean) => void] {
  const on = useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, shortcutsOn);
  return [on, set];
}
