// The tabs of a step: which it has, and which is open first.

import type { StepRowFragment } from "../run.generated.ts";

export const TABS = ["input", "output", "log", "artifacts", "transcript"] as const;
export type Tab = (typeof TABS)[number];

/** Whether an agent works on the step; packs have no transcript. */
function isAgent(step: StepRowFragment): boolean {
  return step.agent !== null || (step.step !== null && "candidates" in step.step);
}

/** The tabs of the step, in their order. */
export function tabsOf(step: StepRowFragment): readonly Tab[] {
  return isAgent(step)
    ? ["transcript", "input", "output", "log", "artifacts"]
    : TABS.filter((tab) => tab !== "transcript");
}

/** The tab that matters when none was chosen. */
export function tabFor(step: StepRowFragment): Tab {
  if (isAgent(step)) return "transcript";
  if (step.artifacts.length > 0) return "artifacts";
  if (step.state === "RUNNING" || step.state === "WAITING") return "log";
  return step.state === "SUCCEEDED" ? "output" : "input";
}
