// What the address of a run says of the log that is open.

/** The least severe level that is shown; without one, all are. */
export type LeastLevel = "info" | "warning" | "error";
export const LEVELS: readonly LeastLevel[] = ["info", "warning", "error"];

/** What the address says of a log. */
export interface LogAddress {
  /** The number of a line. */
  line?: number | undefined;
  /** The text that is searched for. */
  find?: string | undefined;
  level?: LeastLevel | undefined;
}
