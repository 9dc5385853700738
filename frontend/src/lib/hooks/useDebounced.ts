import { useEffect, useMemo, useState } from "react";

/** A JSON value once it has not changed for a while, and whether a newer one is waiting. */
export function useDebounced<Value>(value: Value, milliseconds: number): { value: Value; waiting: boolean } {
  const text = JSON.stringify(value);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    if (text === settled) return undefined;
    const timer = setTimeout(() => setSettled(text), milliseconds);
    return () => clearTimeout(timer);
  }, [text, settled, milliseconds]);
  const kept = useMemo(() => JSON.parse(settled) as Value, [settled]);
  return { value: kept, waiting: text !== settled };
}
