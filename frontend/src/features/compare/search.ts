import { textOf } from "../../lib/browser/search.ts";

export interface CompareSearch {
  a?: string | undefined;
  b?: string | undefined;
}

export function compareSearch(given: Record<string, unknown>): CompareSearch {
  return { a: textOf(given["a"]), b: textOf(given["b"]) };
}
