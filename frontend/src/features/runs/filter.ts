// The filters of the runs list: what stands in the address, and what the server is asked for.

import type { RunCause, RunState } from "../../lib/fragments.generated.ts";
import { CAUSES, STATES } from "../../lib/states.ts";
import type { RunsQueryVariables } from "./runs.generated.ts";

export interface RunsSearch {
  view?: View | undefined;
  state?: RunState | undefined;
  pipeline?: string | undefined;
  cause?: RunCause | undefined;
  q?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export type View = "attention" | "running" | "agents";

export const VIEWS: readonly { view: View | undefined; word: string }[] = [
  { view: undefined, word: "All" },
  { view: "attention", word: "Needs attention" },
  { view: "running", word: "Running" },
  { view: "agents", word: "By agents" },
];

export const RUN_STATES: readonly RunState[] = ["QUEUED", "RUNNING", "WAITING", "CANCELLING", "SUCCEEDED", "FAILED", "CANCELLED"];

export function runsSearch(given: Record<string, unknown>): RunsSearch {
  const text = (name: string) => (typeof given[name] === "string" && given[name] !== "" ? given[name] : undefined);
  const state = text("state");
  const cause = text("cause");
  return {
    view: VIEWS.find(({ view }) => view !== undefined && view === given["view"])?.view,
    state: RUN_STATES.find((known) => known === state),
    pipeline: text("pipeline"),
    cause: cause !== undefined && cause in CAUSES ? (cause as RunCause) : undefined,
    q: typeof given["q"] === "number" ? String(given["q"]) : text("q"),
    after: text("after"),
    before: text("before"),
  };
}

type Filter = NonNullable<RunsQueryVariables["filter"]>;

export function filterOf(search: RunsSearch): Filter {
  const filter: Filter = {};
  if (search.view === "attention") filter.needsAttention = true;
  if (search.view === "running") filter.states = ["QUEUED", "RUNNING", "WAITING", "CANCELLING"];
  if (search.view === "agents") filter.causes = ["AGENT", "A2A"];
  if (search.state !== undefined) filter.states = [search.state];
  if (search.cause !== undefined) filter.causes = [search.cause];
  if (search.pipeline !== undefined) filter.pipelines = [search.pipeline];
  if (search.q !== undefined) filter.text = search.q;
  return filter;
}

/** Says why a list is empty, in one sentence. */
export function emptySentence(search: RunsSearch): string {
  if (search.view === "attention") return "Nothing needs your attention.";
  if (search.state !== undefined) return `No run that is ${STATES[search.state].word.toLowerCase()} fits these filters.`;
  if (Object.values(filterOf(search)).length > 0) return "No run fits these filters.";
  return "There are no runs yet.";
}
