// State that never goes back. A question asked before an event can be answered after it; what it says is old by then.

interface Placed {
  eventCursor: string;
  resumeCount: number;
  endedAt: string | null;
}

export interface Known<Run extends Placed> {
  /** What was given last, old or not. */
  given: Run;
  /** The newest that was given. */
  shown: Run;
  /** Where the run stood before; cursors tell nothing but whether they are the same. */
  passed: readonly string[];
}

/** An answer older than this many changes is not met. */
const REMEMBERED = 500;

export function initialRun<Run extends Placed>(run: Run): Known<Run> {
  return { given: run, shown: run, passed: [] };
}

export function advanceRun<Run extends Placed>(known: Known<Run>, run: Run): Known<Run> {
  if (run.eventCursor === known.shown.eventCursor) return { ...known, given: run, shown: run };
  if (known.passed.includes(run.eventCursor) || isBefore(run, known.shown)) return { ...known, given: run };
  return { given: run, shown: run, passed: [...known.passed, known.shown.eventCursor].slice(-REMEMBERED) };
}

/** Several changes at once pass over cursors that a late answer may still name; but a run that has ended goes on only when it is resumed. */
function isBefore(run: Placed, shown: Placed): boolean {
  if (run.resumeCount !== shown.resumeCount) return run.resumeCount < shown.resumeCount;
  return shown.endedAt !== null && run.endedAt === null;
}
