import { textOf } from "../../lib/browser/search.ts";

export interface TokensSearch {
  q?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function tokensSearch(given: Record<string, unknown>): TokensSearch {
  return { q: textOf(given["q"]), after: textOf(given["after"]), before: textOf(given["before"]) };
}
