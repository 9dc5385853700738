// The recommended action for a failed run, by its failure's remedy.

import type { FailureCode, FailureRemedy } from "../../../domain/fragments.generated.ts";
import type { RunWholeFragment } from "../run.generated.ts";

/** What the primary button does. */
export type Advice = "resume" | "change" | "credential" | "account" | "operator" | "report" | "rerun" | null;

const OF_REMEDY: Record<FailureRemedy, Advice> = {
  RESUME: "resume",
  // To run anything before somebody looked may change something twice.
  CHECK_CHANGES: null,
  CHANGE_INPUT: "change",
  SET_CREDENTIAL: "credential",
  RAISE_QUOTA: "account",
  ASK_OPERATOR: "operator",
  REPORT: "report",
};
/** Failures of which only the raw error tells more. */
const RAW: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "INTERNAL",
  "HANDLER_FAILED",
  "INVALID_OUTPUT",
  "OUTCOME_UNKNOWN",
]);

/** The one thing to do; null when there is nothing to press, as while it runs. */
export function adviceFor(run: Pick<RunWholeFragment, "actions" | "failure">): Advice {
  const { actions, failure } = run;
  const advice = failure === null ? "resume" : OF_REMEDY[failure.remedy];
  // Nobody needs permission to copy, nor to look.
  if (advice === null || advice === "report" || advice === "operator") return advice;
  if (!actions.includes("RESUME")) return actions.includes("RERUN") ? "rerun" : null;
  // Without a step that failed there is no input to change.
  return advice === "change" && failure?.stepKey === null ? "resume" : advice;
}

export function opensRaw(code: FailureCode): boolean {
  return RAW.has(code);
}
