import { type ReactNode, useEffect } from "react";
import { useQuery } from "urql";

import { Timestamp } from "../../components/Timestamp.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { AgentTokenUseDocument } from "./connect.generated.ts";

/** How often the server is asked whether the token was used. */
const ASK_MS = 2000;

/** Waits for the first call with a token, and shows it. */
export function FirstCall({ tokenId, client, check }: { tokenId: string; client: string; check: string }): ReactNode {
  const [{ data }, again] = useQuery({
    query: AgentTokenUseDocument,
    variables: { id: tokenId },
    requestPolicy: "network-only",
  });
  const used = data?.node?.__typename === "ApiToken" ? data.node.lastUsedAt : null;
  useEffect(() => {
    if (used !== null) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) again({ requestPolicy: "network-only" });
    }, ASK_MS);
    return () => clearInterval(timer);
  }, [used, again]);
  return (
    <div role="status" className="py-1">
      {used === null ? (
        <p className="flex items-center gap-2">
          <StateGlyph state="WAITING" />
          <span>
            Waiting for the first call… <span className="text-soft">Restart {client}, or run </span>
            <code>{check}</code>
          </span>
        </p>
      ) : (
        <p className="flex items-center gap-2">
          <StateGlyph state="SUCCEEDED" />
          <span className="font-medium">
            {client} is connected.{" "}
            <span className="font-normal text-soft">
              It called <Timestamp at={used} relative />.
            </span>
          </span>
        </p>
      )}
    </div>
  );
}
