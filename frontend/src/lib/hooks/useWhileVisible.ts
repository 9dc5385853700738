import { useState, useSyncExternalStore } from "react";

/** A value that stands still while the tab is hidden: nothing is drawn that nobody sees. */
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
