// The lines of a log: read once, then streamed. Lines are added in order and never twice.

export interface Line {
  at: string;
  level: string;
  text: string;
}

export interface Log {
  lines: readonly Line[];
  cursor: string | null;
  /** Before the first line that is kept here; null when there is nothing before it. */
  before: string | null;
  /** Number of lines ever added, including dropped ones. */
  total: number;
}

/** Lines kept in the page; older ones are still on the server. */
export const MAX_LINES = 2000;

export function appendLines(log: Log, lines: readonly Line[], cursor: string): Log {
  if (cursor === log.cursor) return log;
  const all = [...log.lines, ...lines];
  return { lines: all.slice(-MAX_LINES), cursor, before: log.before, total: log.total + lines.length };
}

/** Whether older lines were dropped, so that `before` no longer matches the first line. */
export function isCut(log: Log, lines: readonly Line[]): boolean {
  return log.lines.length + lines.length > MAX_LINES;
}

export function prependLines(log: Log, lines: readonly Line[], before: string | null): Log {
  return { ...log, lines: [...lines, ...log.lines], before };
}

/** The lines that hold a text, in any case; all without one. */
export function matching(lines: readonly Line[], text: string): readonly Line[] {
  const wanted = text.trim().toLowerCase();
  return wanted === "" ? lines : lines.filter((line) => line.text.toLowerCase().includes(wanted));
}
