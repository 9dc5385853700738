import type { RunsOf } from "./triggers.generated.ts";

/** Whose runs a trigger fires for when they end. */
export const WHOSE: Record<RunsOf, { word: string; sentence: string }> = {
  OWNER: { word: "The owner's", sentence: "It fires for runs of the person who added it." },
  ALL: { word: "All callers'", sentence: "Its owner needs `observe`, now and whenever it fires." },
};
