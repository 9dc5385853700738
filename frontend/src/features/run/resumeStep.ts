import type { RunWholeFragment } from "./run.generated.ts";

/** The step a resume goes on at: the first that has not succeeded. */
export function resumeStep(run: RunWholeFragment): RunWholeFragment["steps"][number] | null {
  return run.steps.find((step) => step.state !== "SUCCEEDED") ?? null;
}
