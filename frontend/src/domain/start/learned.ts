// Learned values in a form: filled in visibly, marked, never hidden.

import { own } from "../../lib/json/untrusted.ts";
import type { Field } from "./schemaForm.ts";

/** The learned value of an input. */
export interface LearnedValue<Name extends string = string> {
  /** The learned field, as the server names it. */
  field: Name;
  value: string;
  /** Where it comes from, in a few words. */
  from: string;
  /** The same in a sentence. */
  source: string;
}

interface Known<Name extends string> {
  uses: number;
  values: readonly { field: Name; value: string | null; count: number; source: string; pinned: boolean }[];
}

/** Learned values of a target's inputs, by input name. */
export function learnedValues<Name extends string>(known: Known<Name>): Record<string, LearnedValue<Name>> {
  const found: Record<string, LearnedValue<Name>> = {};
  for (const { field, value, count, source, pinned } of known.values) {
    if (value === null) continue;
    const from = pinned
      ? "pinned by you"
      : count === known.uses
        ? `from your last ${count} runs`
        : `from ${count} of your last ${known.uses} runs`;
    found[field.toLowerCase()] = { field, value, from, source };
  }
  return found;
}

/** The learned values of untouched fields that can hold them. */
export function prefilled<Name extends string>(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
  usual: Readonly<Record<string, LearnedValue<Name>>>,
): Record<string, LearnedValue<Name>> {
  return Object.fromEntries(
    fields.flatMap(({ name, kind, choices }) => {
      const known = own(usual, name);
      if (known === undefined || own(texts, name) !== undefined) return [];
      return kind === "text" || kind === "long" || (kind === "choice" && choices.includes(known.value))
        ? [[name, known]]
        : [];
    }),
  );
}
