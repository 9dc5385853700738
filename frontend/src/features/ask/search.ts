import { textOf } from "../../lib/browser/search.ts";

/** `/?ask=…` asks what to run. */
export interface AskSearch {
  ask?: string | undefined;
}

export function askSearch(given: Record<string, unknown>): AskSearch {
  return { ask: textOf(given["ask"]) };
}
