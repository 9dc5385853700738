import { type ReactNode, useEffect, useState } from "react";

import { useConnection } from "../lib/server/connection.ts";

/** Shorter interruptions are not shown. */
const QUIET_MS = 1500;

/** Says that the data shown may be old. Covers nothing. */
export function ConnectionStrip(): ReactNode {
  const live = useConnection((connection) =>
    connection.live === "reconnecting" || connection.live === "polling" ? connection.live : null,
  );
  const offline = useConnection((connection) => connection.offline);
  const freshAt = useConnection((connection) => connection.freshAt);
  if (offline) {
    return (
      <div role="status">
        <p className="bg-warn-tint px-6 py-1.5 text-dense text-warn">
          Your browser is offline. What you see is from {new Date(freshAt).toLocaleTimeString()}.
        </p>
      </div>
    );
  }
  return (
    <div role="status">
      {live === "reconnecting" ? <Away since={freshAt} /> : null}
      {live === "polling" ? (
        <p className="bg-idle-tint px-6 py-1.5 text-dense text-idle">
          No live connection: refreshing every few seconds.
        </p>
      ) : null}
    </div>
  );
}

function Away({ since }: { since: number }): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), QUIET_MS);
    return () => clearTimeout(timer);
  }, []);
  return late ? (
    <p className="bg-warn-tint px-6 py-1.5 text-dense text-warn">
      Reconnecting. What you see is from {new Date(since).toLocaleTimeString()}.
    </p>
  ) : null;
}
