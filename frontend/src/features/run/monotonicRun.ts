// Keeps a run's state from going back: a query sent before an event can be answered after it, with an older state.

interface Placed {
  eventCursor: string;
  resumeCount: number;
  endedAt: string | null;
}

export interface Known<Run extends Placed> {
  /** The last state received, old or not. */
  given: Run;
  /** The newest state received. */
  shown: Run;
  /** Earlier cursors; a cursor can only be compared for equality. */
  passed: readonly string[];
}

/** Answers are never older than this many changes. */
const REMEMBERED = 500;

export function initialRun<Run extends Placed>(run: Run): Known<Run> {
  return { given: run, shown: run, passed: [] };
}

export function advanceRun<Run extends Placed>(known: Known<Run>, run: Run): Known<Run> {
  if (run.eventCursor === known.shown.eventCursor) return { ...known, given: run, shown: run };
  if (known.passed.includes(run.eventCursor) || isBefore(run, known.shown)) return { ...known, given: run };
  return { given: run, shown: run, passed: [...known.passed, known.shown.eventCursor].slice(-REMEMBERED) };
}

/** A batch of changes skips cursors that a late answer may still name; but only a resume continues an ended run. */
function isBefore(run: Placed, shown: Placed): boolean {
  if (run.resumeCount !== shown.resumeCount) return run.resumeCount < shown.resumeCount;
  return shown.endedAt !== null && run.endedAt === null;
}
