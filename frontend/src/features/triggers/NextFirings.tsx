import type { ReactNode } from "react";

import { inZoneOf } from "../../lib/text/format.ts";
import { ownZone, zone } from "../../lib/time/zone.ts";

interface Props {
  instants: readonly string[];
  /** The zone of the schedule's expression. Null for an interval. */
  timeZone: string | null;
}

/** The next instants in the schedule's zone and, where it differs, in the reader's. */
export function NextFirings({ instants, timeZone }: Props): ReactNode {
  const reader = zone() ?? ownZone();
  const other = timeZone === reader ? null : timeZone;
  return (
    <table className="border-collapse text-dense" aria-label="Next firings">
      <thead className={other === null ? "sr-only" : ""}>
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-6 [&>th]:font-medium">
          {other === null ? null : <th>{other}</th>}
          <th>Your time{other === null ? "" : ` (${reader})`}</th>
        </tr>
      </thead>
      <tbody>
        {instants.map((at) => (
          <tr key={at} className="[&>td]:py-1 [&>td]:pr-6">
            {other === null ? null : <td>{inZoneOf(at, other)}</td>}
            <td className={other === null ? "" : "text-soft"}>
              <time dateTime={at}>{inZoneOf(at, reader)}</time>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
