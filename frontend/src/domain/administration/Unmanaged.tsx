import type { ReactNode } from "react";
import type { CombinedError } from "urql";

import { isForbidden } from "../../components/command.ts";
import { lost } from "../../components/Notice.tsx";
import { Unread } from "../../components/Page.tsx";

/** What shows in place of something only managers may read: that they alone may, or why it was not read. */
export function Unmanaged({
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
        Only whoever may manage the server sees {what}. Sign in with a link made by{" "}
        <code className="font-mono text-dense text-ink">packline token login-link</code> on its machine.
      </p>
    );
  }
  return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
}
