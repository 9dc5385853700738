// Runs that changed, told to the lists that show them. Rows that are shown change by themselves, through the cache; a
// list only has to know of rows that came or went.

import { useEffect } from "react";

import { useLatest } from "./useLatest.ts";

export interface Changes {
  runs: readonly { id: string }[];
  deletedIds: readonly string[];
  /** Something was left out: read the list again. */
  more: boolean;
}

type Listener = (changes: Changes) => void;
const listeners = new Set<Listener>();

export function announceRuns(changes: Changes): void {
  for (const listener of listeners) listener(changes);
}

export function useRunChanges(listener: Listener): void {
  const latest = useLatest(listener);
  useEffect(() => {
    const told: Listener = (changes) => latest.current(changes);
    listeners.add(told);
    return () => {
      listeners.delete(told);
    };
  }, [latest]);
}
