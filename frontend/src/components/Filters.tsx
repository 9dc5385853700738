import { SlidersHorizontal } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";

import { useIsNavigating } from "../lib/browser/useIsNavigating.ts";
import { useActions } from "../lib/browser/shortcuts.ts";
import { useLatest } from "../lib/hooks/useLatest.ts";
import { total } from "../lib/text/format.ts";
import { Button } from "./Button.tsx";
import { IgnoredFilters, type Reads } from "./IgnoredFilters.tsx";

/** Delay before typed text is searched. */
const TYPING_MS = 200;

interface BarProps {
  search?: ReactNode;
  /** How many filters are set. */
  chosen: number;
  /** The number of items that match, as the server counted them, and the word for one of them. */
  found?: readonly [number | undefined, string, string?];
  reads: Reads;
  children: ReactNode;
}

/**
 * A search box next to filters, how many items match, and what of the address was ignored.
 *
 * On a phone a button opens the filters, so that the list comes first.
 */
export function FilterBar({ search, chosen, found, reads, children }: BarProps): ReactNode {
  const [open, setOpen] = useState(chosen > 0);
  const id = useId();
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        {search}
        <Button className="md:hidden" aria-expanded={open} aria-controls={id} onClick={() => setOpen(!open)}>
          <SlidersHorizontal aria-hidden="true" className="size-4" />
          Filters{chosen === 0 ? "" : ` (${chosen})`}
        </Button>
        <div
          id={id}
          className={`md:contents ${open ? "max-md:flex max-md:w-full max-md:flex-wrap max-md:gap-2" : "max-md:hidden"}`}
        >
          {children}
        </div>
        {found === undefined ? null : (
          <p role="status" className="ml-auto text-dense text-soft max-md:ml-0 max-md:w-full">
            {found[0] === undefined ? "" : total(found[0], found[1], found[2])}
          </p>
        )}
      </div>
      <IgnoredFilters reads={reads} />
    </>
  );
}

/** A search box shows its shortcut on devices with a keyboard. */
const KEYS = typeof matchMedia === "undefined" || !matchMedia("(pointer: coarse)").matches;

/** A search box whose text is in the address. `/` focuses it. */
export function SearchBox({
  label,
  text,
  onSearch,
}: {
  label: string;
  text: string;
  onSearch: (text: string) => void;
}): ReactNode {
  const [typed, setTyped] = useState(text);
  const box = useRef<HTMLInputElement>(null);
  const [known, setKnown] = useState(text);
  const latest = useLatest(onSearch);
  const isNavigating = useIsNavigating();
  if (known !== text) {
    // The address changed elsewhere, such as by going back.
    setKnown(text);
    setTyped(text);
  }
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => {
      if (!isNavigating()) latest.current(typed);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, latest, isNavigating]);
  useActions("This list", [{ keys: "/", says: label, act: () => box.current?.focus() }]);
  return (
    <input
      ref={box}
      type="search"
      aria-label={label}
      placeholder={KEYS ? `${label}  /` : label}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      className="field !w-44 min-[1360px]:!w-52 max-md:!w-auto max-md:min-w-0 max-md:flex-1"
    />
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value | undefined;
  choices: readonly (readonly [Value, string])[];
  /** Label of the empty choice. */
  none?: string;
  onChange: (value: Value | undefined) => void;
}

export function FilterSelect<Value extends string>({
  label,
  value,
  choices,
  none,
  onChange,
}: SelectProps<Value>): ReactNode {
  const id = useId();
  return (
    <span className="max-md:grow md:shrink-0 max-md:basis-36">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <select
        id={id}
        value={value ?? ""}
        onChange={(event) => onChange(choices.find(([choice]) => choice === event.target.value)?.[0])}
        className={`field !w-auto max-w-40 max-md:!w-full max-md:max-w-none ${value === undefined ? "!text-soft" : "!border-accent font-medium"}`}
      >
        <option value="">{none ?? `${label}: any`}</option>
        {choices.map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
    </span>
  );
}
