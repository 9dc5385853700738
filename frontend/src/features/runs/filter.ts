// The filters of the runs list, in the address and as the query's argument.

import { oneOf, textOf } from "../../lib/browser/search.ts";
import { CAUSES, STATES } from "../../domain/runs/states.ts";
import type { RunCause, RunsQueryVariables, RunState } from "./runs.generated.ts";

export interface RunsSearch {
  /** One of the built-in views, or the name of a saved one. */
  view?: string | undefined;
  status?: RunState | undefined;
  pipeline?: string | undefined;
  actor?: string | undefined;
  cause?: RunCause | undefined;
  since?: Since | undefined;
  q?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

/** Parameters stored in a saved view. */
export const FILTERS = [
  "status",
  "pipeline",
  "actor",
  "cause",
  "since",
  "q",
] as const satisfies readonly (keyof RunsSearch)[];
export type Filters = Pick<RunsSearch, (typeof FILTERS)[number]>;

export const VIEWS: readonly { view: string | undefined; word: string }[] = [
  { view: undefined, word: "All" },
  { view: "attention", word: "Needs attention" },
  { view: "running", word: "Running" },
  { view: "agents", word: "By agents" },
];

export const RUN_STATES: readonly RunState[] = [
  "QUEUED",
  "RUNNING",
  "WAITING",
  "CANCELLING",
  "SUCCEEDED",
  "FAILED",
  "CANCELLED",
];

export type Since = "1h" | "24h" | "7d" | "30d";
export const SINCE: Record<Since, { word: string; hours: number }> = {
  "1h": { word: "the last hour", hours: 1 },
  "24h": { word: "the last 24 hours", hours: 24 },
  "7d": { word: "the last 7 days", hours: 168 },
  "30d": { word: "the last 30 days", hours: 720 },
};

export function runsSearch(given: Record<string, unknown>): RunsSearch {
  return {
    view: textOf(given["view"]),
    status: oneOf(given["status"], RUN_STATES),
    pipeline: textOf(given["pipeline"]),
    actor: textOf(given["actor"]),
    cause: oneOf(given["cause"], Object.keys(CAUSES) as RunCause[]),
    since: oneOf(given["since"], Object.keys(SINCE) as Since[]),
    q: textOf(given["q"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}

/** The filters of an address without its other parameters. */
export function filtersOf(search: RunsSearch): Filters {
  return Object.fromEntries(FILTERS.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])));
}

type Filter = NonNullable<RunsQueryVariables["filter"]>;

/** The query's filter; `now` is rounded to the minute, so that the query stays the same. */
export function filterOf(search: RunsSearch, now: number): Filter {
  const filter: Filter = {};
  if (search.view === "attention") filter.needsAttention = true;
  if (search.view === "running") filter.states = ["QUEUED", "RUNNING", "WAITING", "CANCELLING"];
  if (search.view === "agents") filter.causes = ["AGENT", "A2A"];
  if (search.status !== undefined) filter.states = [search.status];
  if (search.cause !== undefined) filter.causes = [search.cause];
  if (search.pipeline !== undefined) filter.pipelines = [search.pipeline];
  if (search.actor !== undefined) filter.callers = [search.actor];
  if (search.since !== undefined)
    filter.createdFrom = new Date(
      Math.floor(now / 60_000) * 60_000 - SINCE[search.since].hours * 3_600_000,
    ).toISOString();
  if (search.q !== undefined) filter.text = search.q;
  return filter;
}

/** Says why a list is empty. */
export function emptySentence(search: RunsSearch): string {
  const filters = Object.keys(filtersOf(search));
  if (filters.length === 0 && search.view === "attention")
    return "Nothing needs your attention. Failed runs are listed here until you acknowledge them or they succeed.";
  if (filters.length === 0 && search.view === "running")
    return "No runs are active. Runs that wait or run are listed here while they last.";
  if (filters.length === 1 && search.status !== undefined)
    return `No run is ${STATES[search.status].word.toLowerCase()}.`;
  if (filters.length > 0 || search.view !== undefined) return "No run matches these filters.";
  return "There are no runs yet.";
}
