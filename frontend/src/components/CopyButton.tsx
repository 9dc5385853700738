import { type ReactNode, useEffect, useState } from "react";

import { copy } from "../lib/browser/clipboard.ts";

/** Copies a text and says so for two seconds; a long one is built on the click. */
export function CopyButton({
  text,
  what,
  label = "Copy",
  look = "link rounded px-1.5 py-0.5 text-meta",
}: {
  text: string | (() => string | null);
  what: string;
  label?: string;
  /** The classes of the button. */
  look?: string;
}): ReactNode {
  const [done, setDone] = useState<boolean | null>(null);
  useEffect(() => {
    if (done === null) return undefined;
    const timer = setTimeout(() => setDone(null), 2000);
    return () => clearTimeout(timer);
  }, [done]);
  return (
    <button
      type="button"
      className={look}
      onClick={() => {
        const found = typeof text === "string" ? text : text();
        if (found === null) setDone(false);
        else void copy(found).then(setDone);
      }}
    >
      <span aria-live="polite">{done === null ? label : done ? "Copied" : "Not copied"}</span>
      <span className="sr-only"> {what}</span>
    </button>
  );
}
