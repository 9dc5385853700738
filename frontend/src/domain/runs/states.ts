// One exhaustive map: what every state is called, what it means, and how it looks. Colour is the third channel, next to
// word and icon.

import type { RunCause, RunState, StepState } from "../fragments.generated.ts";

/** The state of a run, step or attempt. Only attempts are LOST, only steps are PENDING. */
export type State = RunState | StepState | "LOST";
export type Tone = "ok" | "run" | "warn" | "fail" | "idle";
export type StateIcon = "check" | "cross" | "running" | "waiting" | "queued" | "stopped" | "none" | "lost";

export interface Look {
  word: string;
  sentence: string;
  tone: Tone;
  icon: StateIcon;
}

export const STATES: Record<State, Look> = {
  QUEUED: { word: "Queued", sentence: "Waiting for a free worker.", tone: "idle", icon: "queued" },
  RUNNING: { word: "Running", sentence: "A step is running.", tone: "run", icon: "running" },
  WAITING: { word: "Waiting", sentence: "Waiting; it continues automatically.", tone: "warn", icon: "waiting" },
  CANCELLING: {
    word: "Cancelling",
    sentence: "Stopping; a step is still running.",
    tone: "warn",
    icon: "waiting",
  },
  SUCCEEDED: { word: "Succeeded", sentence: "Every step succeeded.", tone: "ok", icon: "check" },
  FAILED: { word: "Failed", sentence: "A step failed and will not be retried.", tone: "fail", icon: "cross" },
  CANCELLED: { word: "Cancelled", sentence: "Someone stopped it before it finished.", tone: "idle", icon: "stopped" },
  PENDING: { word: "Not reached", sentence: "The run has not reached this step.", tone: "idle", icon: "none" },
  LOST: {
    word: "Lost",
    sentence: "The server stopped during this attempt, so its outcome is unknown.",
    tone: "warn",
    icon: "lost",
  },
};

export const CAUSES: Record<RunCause, string> = {
  PERSON: "a person",
  AGENT: "an agent",
  SCHEDULE: "a schedule",
  WEBHOOK: "a webhook",
  RUN_ENDED: "the end of a run",
  RERUN: "a re-run",
  A2A: "another agent platform",
};

/** What kind of trigger started a run that has one. */
export function triggerKind(cause: RunCause): string {
  return cause === "WEBHOOK" ? "webhook" : cause === "RUN_ENDED" ? "trigger" : "schedule";
}

/** Whether only a resume can leave the state. */
export function isFinal(state: State): boolean {
  return state === "SUCCEEDED" || state === "FAILED" || state === "CANCELLED";
}

export function isLive(state: State): boolean {
  return state === "QUEUED" || state === "RUNNING" || state === "WAITING" || state === "CANCELLING";
}
