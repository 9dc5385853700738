import type { ReactNode } from "react";

function plain(kinds: readonly string[]): string {
  return kinds.map((kind) => kind.replaceAll("_", " ")).join(", ");
}

/** What goes in and what comes out, as kinds: `document, text → pdf`. */
export function Kinds({ accepts, produces }: { accepts: readonly string[]; produces: readonly string[] }): ReactNode {
  if (accepts.length === 0 && produces.length === 0) return null;
  return (
    <span>
      {accepts.length === 0 ? "nothing" : plain(accepts)}
      <span aria-hidden="true"> → </span>
      <span className="sr-only"> to </span>
      {produces.length === 0 ? "nothing" : plain(produces)}
    </span>
  );
}
