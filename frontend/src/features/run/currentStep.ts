import type { RunWholeFragment } from "./run.generated.ts";

/** The step under way, failed, or next: the first that has not succeeded. A resume goes on there. */
export function currentStep(run: RunWholeFragment): RunWholeFragment["steps"][number] | null {
  return run.steps.find((step) => step.state !== "SUCCEEDED") ?? null;
}
