import type { RunEndedPartsFragment } from "./triggers.generated.ts";

/** The states a run ends in, in the order of a form, with what such a run does. */
export const ENDS = [
  ["FAILED", "fails"],
  ["SUCCEEDED", "succeeds"],
  ["CANCELLED", "is cancelled"],
] as const;

/** Names that still read as a list; more are counted. */
const NAMED = 2;

/** Which ends of runs a trigger fires for, in words. */
export function runEndedWords({
  states,
  pipelines,
  runsOf,
}: {
  states: readonly string[];
  pipelines: readonly { name: string }[] | null;
  runsOf: RunEndedPartsFragment["runsOf"];
}): string {
  const verbs = ENDS.filter(([state]) => states.includes(state)).map(([, verb]) => verb);
  const ends = verbs.length === ENDS.length ? "ends" : verbs.join(" or ");
  const run = runsOf === "ALL" ? "any caller's run" : "a run";
  return `When ${run}${ofPipelines(pipelines)} ${ends}`;
}

function ofPipelines(pipelines: readonly { name: string }[] | null): string {
  if (pipelines === null) return "";
  if (pipelines.length === 0) return " of a deleted pipeline";
  return pipelines.length > NAMED
    ? ` of one of ${pipelines.length} pipelines`
    : ` of ${pipelines.map(({ name }) => name).join(" or ")}`;
}
