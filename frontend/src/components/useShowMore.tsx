import { type ReactNode, useState } from "react";

/** The first items of a list and a button for more, so that no page renders thousands. */
export function useShowMore<Item>(items: readonly Item[], size: number): { shown: readonly Item[]; more: ReactNode } {
  const [batches, setBatches] = useState(1);
  const shown = items.slice(0, batches * size);
  const left = items.length - shown.length;
  if (left === 0) return { shown, more: null };
  return {
    shown,
    more: (
      <button type="button" className="link mt-1 font-sans text-dense" onClick={() => setBatches(batches + 1)}>
        {left <= size
          ? `Show the other ${left.toLocaleString()}`
          : `Show ${size.toLocaleString()} more of ${left.toLocaleString()}`}
      </button>
    ),
  };
}
