import type { ReactNode } from "react";

/** The first of the kinds in words, and how many more there are. */
function words(kinds: readonly string[], most: number): string {
  if (kinds.length === 0) return "nothing";
  const shown = kinds.length > most + 1 ? kinds.slice(0, most) : kinds;
  const rest = kinds.length - shown.length;
  return `${shown.map((kind) => kind.replaceAll("_", " ")).join(", ")}${rest === 0 ? "" : ` +${rest}`}`;
}

/** Accepted and produced kinds: `document, text → pdf`. A list shows only the first of each. */
export function Kinds({
  accepts,
  produces,
  most = 100,
}: {
  accepts: readonly string[];
  produces: readonly string[];
  most?: number;
}): ReactNode {
  if (accepts.length === 0 && produces.length === 0) return null;
  return (
    <span
      {...(accepts.length > most + 1 || produces.length > most + 1
        ? { title: `${words(accepts, 100)} → ${words(produces, 100)}` }
        : {})}
    >
      {words(accepts, most)}
      <span aria-hidden="true"> → </span>
      <span className="sr-only"> to </span>
      {words(produces, most)}
    </span>
  );
}
