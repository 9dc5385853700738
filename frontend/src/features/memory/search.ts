import { textOf } from "../../lib/browser/search.ts";

export interface MemorySearch {
  caller?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function memorySearch(given: Record<string, unknown>): MemorySearch {
  return { caller: textOf(given["caller"]), after: textOf(given["after"]), before: textOf(given["before"]) };
}
