import type { CatchUpPolicy, OverlapPolicy } from "../../domain/triggers/triggers.generated.ts";

interface Policy {
  word: string;
  sentence: string;
}

/** What happens when a schedule fires while its last run has not ended. */
export const OVERLAP: Record<OverlapPolicy, Policy> = {
  SKIP: { word: "Skip this firing", sentence: "No run starts. The firing is recorded as skipped." },
  QUEUE: { word: "Wait for it", sentence: "One run waits until the last one ends. Further firings are skipped." },
  CANCEL_PREVIOUS: { word: "Cancel it", sentence: "Packline cancels the last run and starts the new one." },
};

/** What happens with instants at which no server was running. */
export const CATCH_UP: Record<CatchUpPolicy, Policy> = {
  LATEST: {
    word: "Start one run",
    sentence: "However many firings were missed, one run starts for the latest. The others are recorded as missed.",
  },
  ALL: { word: "Start a run for each", sentence: "Each of the latest missed firings starts a run." },
  NONE: { word: "Start none", sentence: "Missed firings are only recorded." },
};
