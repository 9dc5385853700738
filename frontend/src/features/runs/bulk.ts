// Previews a bulk action in words, from the server's previews.

import { count } from "../../lib/text/format.ts";
import type { BulkPlanQuery } from "./runs.generated.ts";

export type BulkAction = "resume" | "rerun" | "cancel" | "acknowledge";

export const BULK_ACTIONS: Record<BulkAction, { word: string; does: string; done: string }> = {
  resume: { word: "Resume", does: "resume", done: "Resumed" },
  rerun: { word: "Run again", does: "run again", done: "Re-run" },
  cancel: { word: "Cancel", does: "are cancelled", done: "Cancelled" },
  acknowledge: { word: "Acknowledge", does: "are acknowledged", done: "Acknowledged" },
};

export type Planned = NonNullable<BulkPlanQuery["run"]> & { again: number };

export interface DryRun {
  /** Ids of the runs it applies to. */
  ready: string[];
  /** Why not for other runs, by id. */
  not: Record<string, string>;
  /** The summary line. */
  line: string;
}

const NEEDED = { resume: "RESUME", rerun: "RERUN", cancel: "CANCEL", acknowledge: "ACKNOWLEDGE" } as const;

export function planOf(act: BulkAction, run: Planned) {
  return act === "resume" ? run.resumePreview : act === "rerun" ? run.rerunPreview : null;
}

/** Sorts the selected runs into those that can be acted on and those that cannot, and counts what it would do. */
export function dryRun(act: BulkAction, selected: number, runs: readonly Planned[]): DryRun {
  const ready: string[] = [];
  const not: Record<string, string> = {};
  let outside = 0;
  for (const run of runs) {
    const plan = planOf(act, run);
    if (!run.actions.includes(NEEDED[act]) || (act === "acknowledge" && run.acknowledgedAt !== null)) {
      not[run.id] = REASONS[act];
    } else if (plan?.allowed === false) {
      not[run.id] = plan.issues.find(({ severity }) => severity === "ERROR")?.message ?? "The server refuses it.";
    } else {
      ready.push(run.id);
      if (plan?.steps.some(({ action, effects }) => action !== "REUSE" && effects === "EXTERNAL") === true)
        outside += 1;
    }
  }
  const again = act === "resume" || act === "rerun" ? runs.filter((run) => run.again > 0).length : 0;
  const parts = [`${ready.length} ${one(ready.length, BULK_ACTIONS[act].does)}`];
  if (outside > 0) parts.push(`${outside} ${outside === 1 ? "changes" : "change"} an external system`);
  if (again > 0) parts.push(`${again} ${again === 1 ? "was" : "were"} already run again`);
  const rest = selected - ready.length;
  if (rest > 0) parts.push(`${rest} cannot`);
  return { ready, not, line: `${count(selected, "run")} selected: ${parts.join(", ")}.` };
}

function one(number: number, does: string): string {
  if (number !== 1) return does;
  return does.startsWith("are ") ? does.replace("are ", "is ") : does.replace(/^(\w+)/, "$1s");
}

const REASONS: Record<BulkAction, string> = {
  resume: "It has not failed and was not cancelled.",
  rerun: "You may not run it again.",
  cancel: "It has ended already.",
  acknowledge: "It has no failure to acknowledge, or was already acknowledged.",
};

/** Calls an async function for each item with limited concurrency; results keep the order of the items. */
export async function mapConcurrently<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  async function work(): Promise<void> {
    for (let place = next; place < items.length; place = next) {
      next = place + 1;
      // Each worker takes one after the other.
      // oxlint-disable-next-line no-await-in-loop
      results[place] = await act(items[place] as Item);
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work));
  return results;
}
