import { useEffect, useRef, useState } from "react";

import { useLatest } from "../../../lib/hooks/useLatest.ts";

/** Unsaved text, stored in this browser. */
export interface Draft {
  text: string;
  /** The version it was made from; null for a pipeline that is not saved yet. */
  basedOn: number | null;
  at: string;
}

const EVERY_MS = 1000;

function place(name: string): string {
  return `packline.draft.${name}`;
}

export function readDraft(name: string): Draft | null {
  try {
    const kept = JSON.parse(localStorage.getItem(place(name)) ?? "null") as Draft | null;
    return kept !== null && typeof kept.text === "string" && typeof kept.at === "string" ? kept : null;
  } catch {
    // Nothing is stored, or it is not ours.
    return null;
  }
}

function dropDraft(name: string): void {
  try {
    localStorage.removeItem(place(name));
  } catch {
    // Without storage there is nothing to remove.
  }
}

function keepDraft(name: string, draft: Draft): boolean {
  try {
    localStorage.setItem(place(name), JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

/**
 * Stores a text every second while it changes, and at once when the page is left; nothing while it is null.
 *
 * Returns whether the browser stored it (null before the first time) and a function that removes it.
 */
export function useDraft(
  name: string,
  text: string | null,
  basedOn: number | null,
): { kept: boolean | null; forget: () => void } {
  const [kept, setKept] = useState<boolean | null>(null);
  const latest = useLatest({ name, text, basedOn });
  /** The text already stored or discarded. */
  const settled = useRef<string | null>(null);
  const dirty = text !== null;
  useEffect(() => {
    function keep(): void {
      const now = latest.current;
      if (now.text === null || now.text === settled.current) return;
      settled.current = now.text;
      setKept(keepDraft(now.name, { text: now.text, basedOn: now.basedOn, at: new Date().toISOString() }));
    }
    const timer = dirty ? setInterval(keep, EVERY_MS) : undefined;
    addEventListener("pagehide", keep);
    return () => {
      clearInterval(timer);
      removeEventListener("pagehide", keep);
      keep();
    };
  }, [dirty, latest]);
  useEffect(() => {
    // The text is the saved one again.
    if (!dirty) dropDraft(name);
  }, [dirty, name]);
  function forget(): void {
    settled.current = latest.current.text;
    dropDraft(latest.current.name);
    setKept(null);
  }
  return { kept: dirty ? kept : null, forget };
}
