import type { ReactNode } from "react";

import { Button } from "../components/Button.tsx";
import { VERSION } from "../lib/server/base.ts";

/** Warns when this tab's page was built for another version than the server's. */
export function VersionStrip({ server }: { server: string }): ReactNode {
  if (server === VERSION) return null;
  return (
    <div role="status" className="flex flex-wrap items-center gap-3 bg-warn-tint px-6 py-1.5 text-dense text-warn">
      <p>
        The server is Packline {server} now, and this page belongs to {VERSION}. What it shows or does may be wrong.
      </p>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}
