import { oneOf, textOf } from "../../lib/search.ts";

export interface CatalogSearch {
  q?: string | undefined;
  kind?: "PACK" | "PIPELINE" | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function catalogSearch(given: Record<string, unknown>): CatalogSearch {
  return { q: textOf(given["q"]), kind: oneOf(given["kind"], ["PACK", "PIPELINE"]), after: textOf(given["after"]), before: textOf(given["before"]) };
}
