import { useEffect, useState } from "react";

/** A value that changes at once, then not again for a while, so that each one can be read. */
export function useThrottled<Value>(value: Value, milliseconds: number): Value {
  const [shown, setShown] = useState({ value, since: -Infinity });
  useEffect(() => {
    if (Object.is(value, shown.value)) return undefined;
    const rest = shown.since + milliseconds - performance.now();
    const timer = setTimeout(() => setShown({ value, since: performance.now() }), Math.max(0, rest));
    return () => clearTimeout(timer);
  }, [value, shown, milliseconds]);
  return shown.value;
}
