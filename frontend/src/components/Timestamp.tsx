import type { ReactNode } from "react";

import { useNow } from "../lib/time/clock.ts";
import { exact, fromNow, when } from "../lib/text/format.ts";

/**
 * A time in the reader's zone: how long ago in lists, the time of day elsewhere, to the second where it is next to a log
 * or a timeline; exact on hover.
 */
export function Timestamp({
  at,
  relative = false,
  seconds = false,
}: {
  at: string;
  relative?: boolean;
  seconds?: boolean;
}): ReactNode {
  const now = useNow(relative, 30_000);
  return (
    <time dateTime={at} title={exact(at)} className="whitespace-nowrap">
      {relative ? fromNow(at, now) : when(at, now, seconds)}
    </time>
  );
}
