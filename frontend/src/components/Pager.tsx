import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

interface PageInfo {
  hasNextPage: boolean;
  hasPreviousPage: boolean;
  startCursor: string | null;
  endCursor: string | null;
}

/** The position of a page in a list; part of the address. */
export interface Place {
  after?: string | undefined;
  before?: string | undefined;
}

export const PAGE_SIZE = 50;

/** The page of a list that an address names, as arguments of a connection. */
export function pageArguments({ after, before }: Place, size = PAGE_SIZE) {
  return before === undefined
    ? { first: size, after: after ?? null, last: null, before: null }
    : { first: null, after: null, last: size, before };
}

export function Pager({ info, place }: { info: PageInfo; place: Place }): ReactNode {
  const start = place.after === undefined && place.before === undefined;
  const newer = !start && (info.hasPreviousPage || place.after !== undefined);
  const older = info.hasNextPage || place.before !== undefined;
  if (!newer && !older) return null;
  return (
    <nav aria-label="Pages" className="mt-3 flex gap-4 text-dense">
      {newer ? (
        <Link
          to="."
          className="link"
          search={(kept: object) => ({
            ...kept,
            after: undefined,
            before: info.hasPreviousPage ? (info.startCursor ?? undefined) : undefined,
          })}
        >
          ← Previous
        </Link>
      ) : null}
      {older ? (
        <Link
          to="."
          className="link"
          search={(kept: object) => ({ ...kept, before: undefined, after: info.endCursor ?? undefined })}
        >
          Next →
        </Link>
      ) : null}
    </nav>
  );
}
