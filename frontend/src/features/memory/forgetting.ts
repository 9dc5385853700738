import { useEffect, useRef, useState } from "react";

/** How long forgetting can be taken back. */
export const UNDO_SECONDS = 10;

/** Something that is about to be forgotten. */
export interface Forgetting {
  scope: string;
  /** What it is called, for people. */
  what: string;
}

/** Delays forgetting for ten seconds, in which it can be undone; leaving the page forgets at once. */
export function useForgetting(forget: (scope: string) => Promise<void>): {
  pending: Forgetting | null;
  begin: (next: Forgetting) => void;
  undo: () => void;
} {
  const [pending, setPending] = useState<Forgetting | null>(null);
  const waiting = useRef<Forgetting | null>(null);
  const act = useRef(forget);
  useEffect(() => {
    act.current = forget;
  }, [forget]);

  useEffect(() => {
    waiting.current = pending;
    const later = () => {
      if (pending === null) return;
      waiting.current = null;
      void act.current(pending.scope).then(() => setPending(null));
    };
    const timer = setTimeout(later, UNDO_SECONDS * 1000);
    return () => clearTimeout(timer);
  }, [pending]);

  useEffect(
    () => () => {
      if (waiting.current !== null) void act.current(waiting.current.scope);
    },
    [],
  );

  function begin(next: Forgetting): void {
    if (waiting.current !== null) void act.current(waiting.current.scope);
    setPending(next);
  }

  function undo(): void {
    waiting.current = null;
    setPending(null);
  }

  return { pending, begin, undo };
}
