import { type ReactNode, useEffect, useRef } from "react";

import { humanise } from "../../../lib/text/format.ts";
import type { Offer } from "../definition/offers.ts";

interface Props {
  id: string;
  offers: readonly Offer[];
  active: number;
  /** Whether there is anything to take at all. */
  any: boolean;
  onPick: (offer: Offer) => void;
  onActive: (index: number) => void;
}

/** What a field may take, with its type and what it was in the last run. Its field keeps the focus and the keys. */
export function Offers({ id, offers, active, any, onPick, onActive }: Props): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  if (offers.length === 0) {
    return (
      <p
        role="status"
        className="absolute inset-x-0 top-full z-20 mt-1 rounded-lg border border-line bg-page p-3 text-soft shadow-float"
      >
        {any
          ? "Nothing of that name comes before this step."
          : "There is nothing to take yet: no input is declared, and no step comes before this one."}
      </p>
    );
  }
  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label="Values to take"
      className="absolute inset-x-0 top-full z-20 mt-1 max-h-72 overflow-y-auto rounded-lg border border-line bg-page py-1 shadow-float"
    >
      {offers.map((offer, index) => (
        <div
          key={offer.path}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={`cursor-pointer px-3 py-1 ${index === active ? "bg-accent-tint" : ""}`}
          onMouseMove={() => onActive(index)}
          // The field would lose the focus on `click`.
          onMouseDown={(event) => {
            event.preventDefault();
            onPick(offer);
          }}
        >
          <span className="flex items-baseline justify-between gap-4">
            <span className="truncate font-mono text-dense">{offer.path}</span>
            <span className="shrink-0 text-meta text-soft">
              {offer.from === "input" ? "input" : humanise(offer.from)} · {offer.type}
            </span>
          </span>
          <span className="block truncate text-meta text-soft">
            {offer.example === "" ? offer.description : `Last time: ${offer.example}`}
          </span>
        </div>
      ))}
    </div>
  );
}
