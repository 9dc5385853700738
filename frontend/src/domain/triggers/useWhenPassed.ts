import { useEffect } from "react";

import { useLatest } from "../../lib/hooks/useLatest.ts";
import { serverNow } from "../../lib/time/clock.ts";

/** Time for the server to fire, after the instant. */
const GRACE_MS = 2000;
/** Longer waits overflow a timer, and by then the list has been read again anyway. */
const LONGEST_MS = 86_400_000;

/** Calls `act` soon after the earliest of the instants: a firing that starts no run changes no list of runs. */
export function useWhenPassed(instants: readonly (string | null)[], act: () => void): void {
  const latest = useLatest(act);
  const known = instants.flatMap((at) => (at === null ? [] : [Date.parse(at)]));
  const first = known.length === 0 ? null : Math.min(...known);
  useEffect(() => {
    if (first === null) return undefined;
    const wait = Math.max(0, first - serverNow()) + GRACE_MS;
    if (wait > LONGEST_MS) return undefined;
    const timer = setTimeout(() => latest.current(), wait);
    return () => clearTimeout(timer);
  }, [first, latest]);
}
