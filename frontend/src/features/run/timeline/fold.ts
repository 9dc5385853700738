// Stretches of succeeded steps, shown as one row. Pure functions.

import type { StepRowFragment } from "../run.generated.ts";

export type Fold = "on" | "off";

/** Fewer steps are not worth a row that hides them. */
const LEAST = 4;
/** A run of more steps than this does not fit the window. */
const LONG = 12;

type Step = Pick<StepRowFragment, "key" | "state">;

/** Steps that are one row: a single step, or a stretch that succeeded. */
export interface Row {
  /** Places of its steps in the run. */
  from: number;
  to: number;
}

/** The rows of a run. The selected step has its own, and so have those that were unfolded. */
export function rowsOf(steps: readonly Step[], selected: string | null, unfolded: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  let begun: number | null = null;
  for (let place = 0; place <= steps.length; place += 1) {
    const step = steps[place];
    const folds = step?.state === "SUCCEEDED" && step.key !== selected && !unfolded.has(step.key);
    if (folds) {
      begun ??= place;
      continue;
    }
    if (begun !== null) {
      if (place - begun >= LEAST) rows.push({ from: begun, to: place - 1 });
      else rows.push(...each(begun, place));
      begun = null;
    }
    if (step !== undefined) rows.push({ from: place, to: place });
  }
  return rows;
}

/** A row for each step. */
export function each(from: number, end: number): Row[] {
  return Array.from({ length: end - from }, (_, index) => ({ from: from + index, to: from + index }));
}

/** Whether there is a stretch to fold. */
export function canFold(steps: readonly Step[]): boolean {
  return rowsOf(steps, null, new Set()).length < steps.length;
}

/** Whether stretches are folded without being asked: what did not succeed is looked for among many that did. */
export function foldsByItself(steps: readonly Step[], state: string): boolean {
  return steps.length > LONG && (state === "FAILED" || state === "CANCELLED");
}
