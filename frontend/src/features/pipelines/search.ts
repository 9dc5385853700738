import { numberOf, oneOf, textOf } from "../../lib/browser/search.ts";

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
  return {
    q: textOf(q),
    accepts: textOf(accepts),
    produces: textOf(produces),
    source: oneOf(source, SOURCES),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
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
  return {
    a: numberOf(given["a"]),
    b: numberOf(given["b"]),
    view: oneOf(given["view"], ["split"] as const),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}
