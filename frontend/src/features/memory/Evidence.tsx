import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Timestamp } from "../../components/Timestamp.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { humanise } from "../../lib/text/format.ts";
import type { EvidenceRowFragment } from "./memory.generated.ts";

/** What was remembered, newest first; a row leads to its run. */
export function Evidence({
  rows,
  onForget,
}: {
  rows: readonly EvidenceRowFragment[];
  onForget: (scope: string, what: string) => void;
}): ReactNode {
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label="Evidence">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-32">Outcome</th>
          <th className="w-[28%]">What</th>
          <th>Learned</th>
          <th className="w-32">When</th>
          <th className="w-32">
            <span className="sr-only">Act</span>
          </th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {rows.map((row) => (
          <tr
            key={row.id}
            className="row border-b border-line max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 max-md:[&>td]:pr-0"
          >
            <td className="text-soft">
              <span className="inline-flex items-center gap-1.5 align-middle">
                <StateGlyph state={row.outcome} />
                {row.failureCode === null
                  ? humanise(row.outcome.toLowerCase())
                  : humanise(row.failureCode.toLowerCase())}
              </span>
            </td>
            <td className="truncate font-medium" title={row.target}>
              {row.isStep ? <span className="font-normal text-soft">step </span> : null}
              {row.entry?.name ?? row.target}
            </td>
            <td className="truncate text-soft max-md:w-full" title={learned(row)}>
              {learned(row)}
            </td>
            <td className="text-soft">
              <Timestamp at={row.at} relative />
            </td>
            <td className="space-x-3 text-right max-md:ml-auto">
              {row.run === null ? null : (
                <Link to="/runs/$run" params={{ run: row.run.id }} className="link" aria-label={`Run ${row.run.title}`}>
                  Run
                </Link>
              )}
              <button
                type="button"
                className="link"
                aria-label={`Forget the row of ${row.entry?.name ?? row.target}`}
                onClick={() => onForget(`entry:${row.id}`, row.isStep ? "one row" : "that row, with its steps")}
              >
                Forget
              </button>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function learned(row: EvidenceRowFragment): string {
  if (!row.readable) return "cannot be read: encrypted with another vault key";
  return row.learned.map(({ field, value }) => `${field.toLowerCase().replaceAll("_", " ")}: ${value}`).join(", ");
}
