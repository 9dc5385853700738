// Values of a form in the address.

import { textOf } from "./search.ts";

/** `?input.title=…` fills a field of the run form. */
export type InputSearch = Record<`input.${string}`, string | undefined>;

const INPUT = "input.";

export function inputSearch(given: Record<string, unknown>): InputSearch {
  const inputs: InputSearch = {};
  for (const [name, value] of Object.entries(given)) {
    const text = textOf(value) ?? (value === null || value === undefined || value === "" ? undefined : JSON.stringify(value));
    if (name.startsWith(INPUT) && text !== undefined) inputs[name as `input.${string}`] = text;
  }
  return inputs;
}

/** The texts of a form's fields, from the address. */
export function textsFrom(search: InputSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).flatMap(([name, text]) => (text === undefined ? [] : [[name.slice(INPUT.length), text]])));
}

export function searchFrom(texts: Readonly<Record<string, string>>): InputSearch {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [INPUT + name, text === "" ? undefined : text]));
}
