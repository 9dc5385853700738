// Which worker executed what of a run. Pure functions.

import { currentStep } from "./currentStep.ts";
import type { RunWholeFragment, RunWorkersFragment } from "./run.generated.ts";

type Takeover = RunWorkersFragment["takeovers"][number];

/** The takeovers of a run by the key of the step that went on after them. */
export function takeoversByStep(run: RunWholeFragment): Map<string, Takeover[]> {
  const found = new Map<string, Takeover[]>();
  if (run.takeovers.length === 0) return found;
  const starts = run.steps
    .flatMap(({ key, attempts }) => attempts.map(({ startedAt }) => ({ key, at: Date.parse(startedAt) })))
    .toSorted((one, other) => one.at - other.at);
  // Nothing has started since the last one yet.
  const next = currentStep(run) ?? run.steps.at(-1);
  for (const takeover of run.takeovers) {
    const key = starts.find(({ at }) => at >= Date.parse(takeover.at))?.key ?? next?.key;
    if (key !== undefined) found.set(key, [...(found.get(key) ?? []), takeover]);
  }
  return found;
}

/** The worker that had the run at a moment; null when the run does not say. */
export function workerAt({ worker, takeovers }: RunWorkersFragment, moment: string): string | null {
  const at = Date.parse(moment);
  const last = takeovers.findLast((takeover) => Date.parse(takeover.at) <= at);
  return last?.worker ?? takeovers[0]?.previousWorker ?? worker;
}
