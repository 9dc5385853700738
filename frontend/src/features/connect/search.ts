import { oneOf, textOf } from "../../lib/browser/search.ts";

export interface ConnectSearch {
  client?: string | undefined;
  way?: "stdio" | undefined;
}

export function connectSearch(given: Record<string, unknown>): ConnectSearch {
  return { client: textOf(given["client"]), way: oneOf(given["way"], ["stdio"]) };
}
