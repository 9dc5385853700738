import { type ReactNode, useEffect, useId, useRef, useState } from "react";

import { useActions } from "../lib/shortcuts.ts";
import { useLatest } from "../lib/useLatest.ts";

/** While somebody types, the list is not asked for at every key. */
const TYPING_MS = 200;

export function FilterBar({ children }: { children: ReactNode }): ReactNode {
  return <div className="mb-3 flex flex-wrap items-center gap-2">{children}</div>;
}

/** A search box whose text stands in the address; `/` focuses it. */
export function SearchBox({ label, text, onSearch }: { label: string; text: string; onSearch: (text: string) => void }): ReactNode {
  const [typed, setTyped] = useState(text);
  const box = useRef<HTMLInputElement>(null);
  const [known, setKnown] = useState(text);
  const latest = useLatest(onSearch);
  if (known !== text) {
    // The address has changed by itself, such as by going back.
    setKnown(text);
    setTyped(text);
  }
  useEffect(() => {
    if (typed === text) return undefined;
    const timer = setTimeout(() => latest.current(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, text, latest]);
  useActions("This list", [{ keys: "/", says: label, act: () => box.current?.focus() }]);
  return (
    <input ref={box} type="search" aria-label={label} placeholder={`${label}  /`} value={typed} onChange={(event) => setTyped(event.target.value)} className="field !w-52 max-md:!w-full" />
  );
}

interface SelectProps<Value extends string> {
  label: string;
  value: Value | undefined;
  choices: readonly (readonly [Value, string])[];
  onChange: (value: Value | undefined) => void;
}

export function FilterSelect<Value extends string>({ label, value, choices, onChange }: SelectProps<Value>): ReactNode {
  const id = useId();
  return (
    <span className="max-md:grow md:shrink-0 max-md:basis-32">
      <label htmlFor={id} className="sr-only">
        {label}
      </label>
      <select
        id={id}
        value={value ?? ""}
        onChange={(event) => onChange(choices.find(([choice]) => choice === event.target.value)?.[0])}
        className={`field !w-auto max-w-44 max-md:!w-full max-md:max-w-none ${value === undefined ? "!text-soft" : "!border-accent font-medium"}`}
      >
        <option value="">{label}: any</option>
        {choices.map(([choice, word]) => (
          <option key={choice} value={choice}>
            {word}
          </option>
        ))}
      </select>
    </span>
  );
}
