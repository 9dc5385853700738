import type { ReactNode } from "react";

import { useConnection } from "../lib/server/connection.ts";
import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Loading, Page } from "./Page.tsx";

/** Shown while a part of the page loads, waits for an unreachable server, or is missing from the server's new build. */
export function LazyFallback(): ReactNode {
  const why = useWhy();
  if (why === null) return <Loading />;
  return (
    <div role="alert" className="my-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2">
      {why === "updated" ? (
        <>
          <p className="mb-2">Packline was updated. Reload the page to open this part.</p>
          <Button onClick={() => location.reload()}>Reload the page</Button>
        </>
      ) : (
        <p>The server cannot be reached. This part loads when the server is back.</p>
      )}
    </div>
  );
}

/** The same for a whole page, under a heading. */
export function LazyPageFallback(): ReactNode {
  return useWhy() === null ? (
    <Loading />
  ) : (
    <Page title="This page has not loaded">
      <LazyFallback />
    </Page>
  );
}

/** The same for a dialog: nothing while it loads. */
export function LazyDialogFallback({ onClose }: { onClose: () => void }): ReactNode {
  const why = useWhy();
  if (why === null) return null;
  const updated = why === "updated";
  return (
    <Dialog title={updated ? "Packline was updated" : "The server cannot be reached"} onClose={onClose}>
      <p className="mb-4">
        {updated ? "Reload the page to open this dialog." : "This dialog opens when the server is back."}
      </p>
      <div className="flex flex-wrap gap-2">
        {updated ? (
          <Button kind="primary" onClick={() => location.reload()}>
            Reload the page
          </Button>
        ) : null}
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** Why a part has not loaded; null while it loads. */
function useWhy(): "updated" | "away" | null {
  return useConnection(({ outdated, partsMissing }) => (!partsMissing ? null : outdated ? "updated" : "away"));
}
