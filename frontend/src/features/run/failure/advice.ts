// The recommended action for a failed run, by its failure's code and class.

import type { FailureCode } from "../../../domain/fragments.generated.ts";
import type { RunWholeFragment } from "../run.generated.ts";

export type Advice = "resume" | "change" | "credential" | "report" | "rerun" | null;

/** Failures of the caller's making that another input of the step cures. */
const CURED_BY_INPUT: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "INVALID_INPUT",
  "NOT_FOUND",
  "RESOURCE_EXHAUSTED",
  "POLICY_DENIED",
]);
/** Failures of which only the raw error tells more. */
const RAW: ReadonlySet<FailureCode> = new Set<FailureCode>([
  "INTERNAL",
  "HANDLER_FAILED",
  "INVALID_OUTPUT",
  "OUTCOME_UNKNOWN",
]);

/** The one thing to do; null when there is nothing, as while it runs. */
export function adviceFor(run: Pick<RunWholeFragment, "actions" | "failure">): Advice {
  if (!run.actions.includes("RESUME")) return run.actions.includes("RERUN") ? "rerun" : null;
  const { failure } = run;
  if (failure === null) return "resume";
  if (failure.code === "CREDENTIAL_INVALID") return "credential";
  // Without a step that failed there is no input to change.
  if (CURED_BY_INPUT.has(failure.code) && failure.stepKey !== null) return "change";
  return failure.class === "PACK_BUG" ? "report" : "resume";
}

export function opensRaw(code: FailureCode): boolean {
  return RAW.has(code);
}
