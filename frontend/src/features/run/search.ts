import { numberOf, oneOf, textOf } from "../../lib/browser/search.ts";
import { type Tab, TABS } from "./step/StepTabs.tsx";

/** The selection on the page; in the address, so that a link shows the same. */
export interface RunSearch {
  step?: string | undefined;
  attempt?: number | undefined;
  tab?: Tab | undefined;
  scale?: "even" | undefined;
}

export function runSearch(given: Record<string, unknown>): RunSearch {
  return {
    step: textOf(given["step"]),
    attempt: numberOf(given["attempt"]),
    tab: oneOf(given["tab"], TABS),
    scale: oneOf(given["scale"], ["even"] as const),
  };
}
