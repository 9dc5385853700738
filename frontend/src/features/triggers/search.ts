import { oneOf, textOf } from "../../lib/browser/search.ts";

export interface TriggersSearch {
  /** Key or id of a pipeline: only its triggers. */
  pipeline?: string | undefined;
  state?: "attention" | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export type TriggerSearch = Pick<TriggersSearch, "after" | "before">;
export interface NewTriggerSearch extends Pick<TriggersSearch, "pipeline"> {
  /** Undefined for a schedule. */
  kind?: "webhook" | "run-ended" | undefined;
}

export function triggersSearch(given: Record<string, unknown>): TriggersSearch {
  return {
    pipeline: textOf(given["pipeline"]),
    state: oneOf(given["state"], ["attention"] as const),
    ...triggerSearch(given),
  };
}

export function triggerSearch(given: Record<string, unknown>): TriggerSearch {
  return { after: textOf(given["after"]), before: textOf(given["before"]) };
}

export function newTriggerSearch(given: Record<string, unknown>): NewTriggerSearch {
  return { pipeline: textOf(given["pipeline"]), kind: oneOf(given["kind"], ["webhook", "run-ended"] as const) };
}
