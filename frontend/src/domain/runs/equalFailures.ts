// Failed runs that failed alike, so that a list shows them as one.

import type { RunRowFragment } from "../fragments.generated.ts";

export interface RunGroup {
  /** The newest run. */
  head: RunRowFragment;
  /** Earlier runs that failed alike, newest first. */
  others: readonly RunRowFragment[];
}

/** Groups a list's runs that failed alike under the newest of them; any other run is its own group. */
export function groupEqualFailures(runs: readonly RunRowFragment[]): RunGroup[] {
  const groups = new Map<string, { head: RunRowFragment; others: RunRowFragment[] }>();
  for (const run of runs) {
    const key = failureKey(run) ?? run.id;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { head: run, others: [] });
    else group.others.push(run);
  }
  return [...groups.values()];
}

/** Equal for runs of one pipeline or pack that failed at one step for one reason; null for a run that has not failed. */
function failureKey({ state, failure, pipeline, pack }: RunRowFragment): string | null {
  const of = pipeline?.id ?? pack?.id;
  if (state !== "FAILED" || failure === null || of === undefined) return null;
  return JSON.stringify([of, failure.stepKey, failure.code, failure.message]);
}
