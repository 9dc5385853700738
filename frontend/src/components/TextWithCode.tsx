import type { ReactNode } from "react";

/** A sentence from the server. Text in backticks is set as code; there is no other markup. */
export function TextWithCode({ text }: { text: string }): ReactNode {
  return text.split("`").map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // Parts of one text have no other name than their place.
      // oxlint-disable-next-line react/no-array-index-key
      <code key={index} className="rounded bg-hover px-1 code-in-text wrap-anywhere">
        {part}
      </code>
    ),
  );
}
