import { type ReactNode, useEffect, useRef } from "react";

import { humanise } from "../../../lib/text/format.ts";
import type { Suggestion } from "../definition/suggestions.ts";

interface Props {
  id: string;
  suggestions: readonly Suggestion[];
  active: number;
  /** Whether there are any suggestions. */
  any: boolean;
  onPick: (suggestion: Suggestion) => void;
  onActive: (index: number) => void;
}

/** The suggestions for a field, with types and last values. The field keeps the focus and handles the keys. */
export function Suggestions({ id, suggestions, active, any, onPick, onActive }: Props): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[active]?.scrollIntoView({ block: "nearest" });
  }, [active]);
  if (suggestions.length === 0) {
    return (
      <p
        role="status"
        className="absolute inset-x-0 top-full z-20 mt-1 rounded-lg border border-line bg-page p-3 text-soft shadow-float"
      >
        {any
          ? "No earlier value has that name."
          : "There are no values yet: no input is declared, and no step comes before this one."}
      </p>
    );
  }
  return (
    <div
      ref={list}
      id={id}
      role="listbox"
      aria-label="Available values"
      className="absolute inset-x-0 top-full z-20 mt-1 max-h-72 overflow-y-auto rounded-lg border border-line bg-page py-1 shadow-float"
    >
      {suggestions.map((suggestion, index) => (
        <div
          key={suggestion.path}
          id={`${id}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === active}
          className={`cursor-pointer px-3 py-1 ${index === active ? "bg-accent-tint" : ""}`}
          onMouseMove={() => onActive(index)}
          // The field would lose the focus on `click`.
          onMouseDown={(event) => {
            event.preventDefault();
            onPick(suggestion);
          }}
        >
          <span className="flex items-baseline justify-between gap-4">
            <span className="truncate font-mono text-dense">{suggestion.path}</span>
            <span className="shrink-0 text-meta text-soft">
              {suggestion.from === "input" ? "input" : humanise(suggestion.from)} · {suggestion.type}
            </span>
          </span>
          <span className="block truncate text-meta text-soft">
            {suggestion.example === "" ? suggestion.description : `Last time: ${suggestion.example}`}
          </span>
        </div>
      ))}
    </div>
  );
}
