import { useRouter, useSearch } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";

import { forgetOpened, openedSearch } from "../lib/browser/openedAddress.ts";
import { textOf } from "../lib/browser/search.ts";

/** Reads the filters of an address: unknown values become undefined. */
export type Reads = (given: Record<string, unknown>) => object;

/** Names the parameters of the address that the list ignores: unknown filters, and values that a filter does not have. */
export function IgnoredFilters({ reads }: { reads: Reads }): ReactNode {
  const current = useSearch({ strict: false }) as Record<string, unknown>;
  const { pathname } = useRouter().history.location;
  const [given, setGiven] = useState(() => openedSearch(pathname));
  useEffect(() => forgetOpened, []);
  const known = reads(given) as Record<string, unknown>;
  const ignored = Object.keys(given).filter(
    (name) => known[name] === undefined && !(name in known && current[name] !== undefined),
  );
  if (ignored.length === 0) return null;
  return (
    <div
      role="status"
      className="mb-3 flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1 rounded border-l-2 border-warn bg-warn-tint px-3 py-2 wrap-anywhere"
    >
      <p>
        {ignored.map((name) => (
          <span key={name}>
            {name in known ? (
              <>
                The filter <Word text={name} /> has no value <Word text={textOf(given[name]) ?? ""} />.{" "}
              </>
            ) : (
              <>
                This list has no filter <Word text={name} />.{" "}
              </>
            )}
          </span>
        ))}
        The list ignores {ignored.length === 1 ? "it" : "them"}.
      </p>
      <button type="button" className="link" onClick={() => setGiven({})}>
        Dismiss
      </button>
    </div>
  );
}

function Word({ text }: { text: string }): ReactNode {
  return <code className="font-mono text-dense">{text}</code>;
}
