// Reused steps: a re-run took their outputs from another run.

import type { StepRowFragment } from "../run.generated.ts";

type Attempt = StepRowFragment["attempts"][number];

/** The source of a reused output; null when the step ran, or runs, here. */
export function reuseOf(step: StepRowFragment): Attempt["reuse"] {
  return step.attempts.at(-1)?.reuse ?? null;
}

export function isReused(step: StepRowFragment): boolean {
  return reuseOf(step) !== null;
}
