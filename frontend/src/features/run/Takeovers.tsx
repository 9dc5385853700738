import type { ReactNode } from "react";

import { Timestamp } from "../../components/Timestamp.tsx";
import type { RunWorkersFragment } from "./run.generated.ts";

/** Each time another worker went on with the run. */
export function Takeovers({ takeovers }: Pick<RunWorkersFragment, "takeovers">): ReactNode {
  if (takeovers.length === 0) return null;
  return (
    <ul aria-label="Takeovers" className="mt-1 text-dense text-soft">
      {takeovers.map(({ at, worker, previousWorker, lost }) => (
        <li key={at} className="wrap-anywhere">
          <Timestamp at={at} />{" "}
          {lost
            ? `${worker} took over from ${previousWorker}, which was lost`
            : `moved from ${previousWorker} to ${worker}`}
        </li>
      ))}
    </ul>
  );
}
