import type { ReactNode } from "react";

import { Button } from "../components/Button.tsx";
import { VERSION } from "../lib/server/base.ts";
import { useConnection } from "../lib/server/connection.ts";

/** Offers to reload when the server has another version, or another build of the page, than this tab. */
export function VersionStrip({ server }: { server: string | null }): ReactNode {
  const outdated = useConnection((connection) => connection.outdated);
  const otherVersion = server !== null && server !== VERSION;
  if (!otherVersion && !outdated) return null;
  return (
    <div role="status" className="flex flex-wrap items-center gap-3 bg-warn-tint px-6 py-1.5 text-dense text-warn">
      <p>
        {otherVersion
          ? `The server is Packline ${server} now, and this page belongs to ${VERSION}. What it shows or does may be wrong.`
          : "Packline was updated. Reload the page to use the new version."}
      </p>
      <Button onClick={() => location.reload()}>Reload</Button>
    </div>
  );
}
