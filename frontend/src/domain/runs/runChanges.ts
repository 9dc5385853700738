// Runs that changed, told to the lists that show them. Rows that are shown change by themselves, through the cache; a
// list only has to know of rows that came or went.

import { useEffect } from "react";

import { useLatest } from "../../lib/hooks/useLatest.ts";

export interface Changes {
  runs: readonly { id: string }[];
  deletedIds: readonly string[];
  /** Something was left out: read the list again. */
  more: boolean;
}

type Listener = (changes: Changes) => void;
const listeners = new Set<Listener>();
/** Something was announced while no list showed: the next one may have been read before it. */
let unheard = false;

export function announceRuns(changes: Changes): void {
  unheard ||= listeners.size === 0;
  // Only the first message of a subscription tells of no run, and nobody told what happened before it.
  const opens = changes.runs.length + changes.deletedIds.length === 0;
  for (const listener of listeners) listener(opens ? { ...changes, more: true } : changes);
}

/** Tells a list of changes; at once, when some may have come before the list did. */
export function useRunChanges(listener: Listener): void {
  const latest = useLatest(listener);
  useEffect(() => {
    const notify: Listener = (changes) => latest.current(changes);
    listeners.add(notify);
    if (unheard) {
      unheard = false;
      notify({ runs: [], deletedIds: [], more: true });
    }
    return () => {
      listeners.delete(notify);
    };
  }, [latest]);
}
