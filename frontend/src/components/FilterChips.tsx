import { X } from "lucide-react";
import type { ReactNode } from "react";

/** Active filters, each to be taken off. */
export function FilterChips({
  chips,
  onClear,
}: {
  chips: readonly { name: string; says: string; off: () => void }[];
  onClear: () => void;
}): ReactNode {
  if (chips.length === 0) return null;
  return (
    <ul aria-label="Active filters" className="mb-3 flex flex-wrap items-center gap-2 text-dense">
      {chips.map(({ name, says, off }) => (
        <li key={name} className="inline-flex items-center rounded border border-accent bg-accent-tint text-accent">
          <span className="py-0.5 pl-2">{says}</span>
          <button type="button" aria-label={`Remove filter: ${says}`} className="p-1.5 hover:opacity-70" onClick={off}>
            <X aria-hidden="true" className="size-3.5" />
          </button>
        </li>
      ))}
      <li>
        <button type="button" className="link" onClick={onClear}>
          Clear
        </button>
      </li>
    </ul>
  );
}
