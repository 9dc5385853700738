import { textOf } from "../../lib/search.ts";

export interface PipelinesSearch {
  q?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function pipelinesSearch(given: Record<string, unknown>): PipelinesSearch {
  return { q: textOf(given["q"]), after: textOf(given["after"]), before: textOf(given["before"]) };
}

/** `?input.title=…` fills a field of the run form. */
export type RunFormSearch = Record<`input.${string}`, string | undefined>;

const INPUT = "input.";

export function runFormSearch(given: Record<string, unknown>): RunFormSearch {
  const inputs: RunFormSearch = {};
  for (const [name, value] of Object.entries(given)) {
    const text = textOf(value) ?? (value === null || value === undefined || value === "" ? undefined : JSON.stringify(value));
    if (name.startsWith(INPUT) && text !== undefined) inputs[name as `input.${string}`] = text;
  }
  return inputs;
}

/** The texts of a form's fields, from the address. */
export function textsFrom(search: RunFormSearch): Record<string, string> {
  return Object.fromEntries(Object.entries(search).flatMap(([name, text]) => (text === undefined ? [] : [[name.slice(INPUT.length), text]])));
}

export function searchFrom(texts: Readonly<Record<string, string>>): RunFormSearch {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [INPUT + name, text === "" ? undefined : text]));
}
