import { oneOf, textOf } from "../../lib/browser/search.ts";

export interface CatalogSearch {
  q?: string | undefined;
  kind?: "PACK" | "PIPELINE" | undefined;
  /** Kinds of thing there are to give, and kinds that are wanted. */
  accepts?: string | undefined;
  produces?: string | undefined;
  usable?: "yes" | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

/** What the address asks for, as the API takes it. */
export function catalogFilter(search: CatalogSearch) {
  return {
    ...(search.q === undefined ? {} : { text: search.q }),
    ...(search.kind === undefined ? {} : { kind: search.kind }),
    ...(search.accepts === undefined ? {} : { accepts: [search.accepts] }),
    ...(search.produces === undefined ? {} : { produces: [search.produces] }),
    ...(search.usable === undefined ? {} : { usable: true }),
  };
}

export function catalogSearch(given: Record<string, unknown>): CatalogSearch {
  return {
    q: textOf(given["q"]),
    kind: oneOf(given["kind"], ["PACK", "PIPELINE"]),
    accepts: textOf(given["accepts"]),
    produces: textOf(given["produces"]),
    usable: oneOf(given["usable"], ["yes"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}
