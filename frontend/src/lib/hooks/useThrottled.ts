import { useEffect, useState } from "react";

/** A value that changes at once, but then not again for a while: what passes by quicker cannot be read. */
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
