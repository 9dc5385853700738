import type { ReactNode } from "react";
import type { CombinedError } from "urql";

import { isForbidden, problemOfError } from "../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../components/Page.tsx";

/** Shown in place of data that needs the manage scope: says so, or why the query failed. */
export function NeedsManage({
  what,
  fetching,
  error,
}: {
  what: string;
  fetching: boolean;
  error: CombinedError | undefined;
}): ReactNode {
  if (isForbidden(error)) {
    return (
      <p className="py-6 text-soft">
        Only users who may manage the server see {what}. Ask an administrator for the scope{" "}
        <code className="font-mono text-dense text-ink">manage</code>.
      </p>
    );
  }
  return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
}
