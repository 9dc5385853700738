import { type ReactNode, useState } from "react";

import { count } from "../lib/text/format.ts";
import { escaped } from "../lib/text/plain.ts";

/** Longer texts, in characters, are cut until the reader expands them. */
const LONGEST = 200_000;

/** Preformatted text in a scrolling box. */
export function Code({ text, label }: { text: string; label: string }): ReactNode {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > LONGEST;
  return (
    <>
      <pre
        // Long lines scroll, and so the box takes focus: a keyboard has to reach what overflows.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-96 overflow-auto rounded border border-line bg-panel p-3 font-mono text-dense whitespace-pre-wrap wrap-anywhere"
        dir="auto"
      >
        {escaped(cut ? text.slice(0, LONGEST) : text)}
      </pre>
      {cut ? (
        <button type="button" className="link mt-1 text-dense" onClick={() => setAll(true)}>
          Show all {count(text.length, "character")}
        </button>
      ) : null}
    </>
  );
}
