import type { ReactNode } from "react";

import { useConnection } from "../lib/server/connection.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Loading } from "./Page.tsx";

/** Shown while a part of the page loads, or waits for an unreachable server. */
export function LazyFallback(): ReactNode {
  return useConnection(({ partsMissing }) => partsMissing) ? (
    <p role="alert" className="my-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2">
      The server cannot be reached. This part loads when the server is back.
    </p>
  ) : (
    <Loading />
  );
}

/** The same for a dialog: nothing while it loads. */
export function LazyDialogFallback({ onClose }: { onClose: () => void }): ReactNode {
  if (!useConnection(({ partsMissing }) => partsMissing)) return null;
  return (
    <Dialog title="The server cannot be reached" onClose={onClose}>
      <p className="mb-4">This dialog opens when the server is back.</p>
      <Button onClick={onClose}>Close</Button>
    </Dialog>
  );
}
