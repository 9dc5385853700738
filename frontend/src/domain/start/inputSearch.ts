// Values of a form in the address.

import { textOf } from "../../lib/browser/search.ts";

/** `?input.title=…` fills a field of the run form. */
export type InputSearch = Record<`input.${string}`, string | undefined>;

const INPUT = "input.";

export function inputSearch(given: Record<string, unknown>): InputSearch {
  const inputs: InputSearch = {};
  for (const [name, value] of Object.entries(given)) {
    const text =
      textOf(value) ?? (value === null || value === undefined || value === "" ? undefined : JSON.stringify(value));
    if (name.startsWith(INPUT) && text !== undefined) inputs[name as `input.${string}`] = text;
  }
  return inputs;
}

/** The texts of a form's fields, from the address. The router also passes on unknown parameters. */
export function textsFrom(search: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputSearch(search)).flatMap(([name, text]) =>
      text === undefined ? [] : [[name.slice(INPUT.length), text]],
    ),
  );
}

export function searchFrom(texts: Readonly<Record<string, string>>): InputSearch {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [INPUT + name, text === "" ? undefined : text]),
  );
}

/** The address with these texts in its fields; parameters that are for no field stay as they are. */
export function withTexts(
  search: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
): InputSearch {
  const others = Object.fromEntries(Object.entries(search).filter(([name]) => !name.startsWith(INPUT)));
  return { ...others, ...searchFrom(texts) };
}
