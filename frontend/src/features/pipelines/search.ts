import { oneOf, textOf } from "../../lib/search.ts";

/** Where a pipeline comes from. */
export const SOURCES = ["starters", "own"] as const;

export interface PipelinesSearch {
  q?: string | undefined;
  accepts?: string | undefined;
  produces?: string | undefined;
  source?: (typeof SOURCES)[number] | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function pipelinesSearch(given: Record<string, unknown>): PipelinesSearch {
  const { q, accepts, produces, source } = given;
  return { q: textOf(q), accepts: textOf(accepts), produces: textOf(produces), source: oneOf(source, SOURCES), after: textOf(given["after"]), before: textOf(given["before"]) };
}

export interface VersionsSearch {
  /** Numbers of the two versions that are compared. */
  a?: number | undefined;
  b?: number | undefined;
  view?: "split" | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function versionsSearch(given: Record<string, unknown>): VersionsSearch {
  return { a: numberOf(given["a"]), b: numberOf(given["b"]), view: oneOf(given["view"], ["split"] as const), after: textOf(given["after"]), before: textOf(given["before"]) };
}

function numberOf(value: unknown): number | undefined {
  const number = Number(textOf(value));
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
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
