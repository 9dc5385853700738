import type { FiringOutcome } from "./triggers.generated.ts";

/** What each outcome of a firing is called, and how it looks. */
export const OUTCOMES: Record<FiringOutcome, { word: string; icon: string; ink: string }> = {
  FIRED: { word: "Fired", icon: "✓", ink: "text-ok" },
  SKIPPED: { word: "Skipped", icon: "–", ink: "text-idle" },
  MISSED: { word: "Missed", icon: "!", ink: "text-warn" },
  REFUSED: { word: "Refused", icon: "✕", ink: "text-fail" },
  FAILED: { word: "Failed to start", icon: "✕", ink: "text-fail" },
};
