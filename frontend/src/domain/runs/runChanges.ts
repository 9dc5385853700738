// Notifies lists of runs about changes. The cache updates the rows shown; a list must only learn about new and deleted
// rows.

import { useEffect } from "react";

import { useLatest } from "../../lib/hooks/useLatest.ts";

export interface Changes {
  runs: readonly { id: string }[];
  deletedIds: readonly string[];
  /** Changes are missing: read the list again. */
  more: boolean;
}

type Listener = (changes: Changes) => void;
const listeners = new Set<Listener>();
/** A change came while no list was shown: the next list may have been read before it. */
let unheard = false;

export function announceRuns(changes: Changes): void {
  unheard ||= listeners.size === 0;
  // Only the first message of a subscription names no run. Changes before it are unknown.
  const opens = changes.runs.length + changes.deletedIds.length === 0;
  for (const listener of listeners) listener(opens ? { ...changes, more: true } : changes);
}

/** Calls the listener on each change, and at once if changes may have come before the list. */
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
