// The current time by the server's clock; ticks only where needed.

import { useEffect, useState } from "react";

import { useConnection } from "../server/connection.ts";

let skew = 0;

/** Sets the offset to the server's clock. */
export function setServerTime(now: string): void {
  skew = Date.parse(now) - Date.now();
}

export function serverNow(): number {
  return Date.now() + skew;
}

/**
 * Now; renders again each `everyMs` while `ticking` and the tab can be seen.
 *
 * While the connection is lost, it stops at the time the data was last known to be current.
 */
export function useNow(ticking: boolean, everyMs = 250): number {
  const [now, setNow] = useState(serverNow);
  const lostAt = useConnection(({ live, freshAt }) => (live === "reconnecting" ? freshAt : null));
  useEffect(() => {
    if (lostAt !== null) return () => setNow(serverNow());
    if (!ticking) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) setNow(serverNow());
    }, everyMs);
    return () => clearInterval(timer);
  }, [ticking, everyMs, lostAt]);
  if (lostAt !== null) return lostAt + skew;
  return Math.max(now, ticking ? 0 : serverNow());
}
