import type { Place } from "../../components/Pager.tsx";
import { textOf } from "../../lib/browser/search.ts";

export function proposalsSearch(given: Record<string, unknown>): Place {
  return { after: textOf(given["after"]), before: textOf(given["before"]) };
}
