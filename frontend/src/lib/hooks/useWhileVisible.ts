import { useState, useSyncExternalStore } from "react";

/** A value that does not change while the tab is hidden, so that nothing is rendered. */
export function useWhileVisible<Value>(value: Value): Value {
  const hidden = useSyncExternalStore(
    (listener) => {
      document.addEventListener("visibilitychange", listener);
      return () => document.removeEventListener("visibilitychange", listener);
    },
    () => document.hidden,
  );
  const [seen, setSeen] = useState(value);
  if (!hidden && !Object.is(seen, value)) setSeen(value);
  return hidden ? seen : value;
}
