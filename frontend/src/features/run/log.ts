// What a log is made of: read once, then followed. Lines are added in order and never twice.

export interface Line {
  at: string;
  level: string;
  text: string;
}

export interface Log {
  lines: readonly Line[];
  cursor: string | null;
}

/** Lines kept in the page; older ones are still on the server. */
export const KEPT = 2000;

export function added(log: Log, lines: readonly Line[], cursor: string): Log {
  if (cursor === log.cursor) return log;
  return { lines: [...log.lines, ...lines].slice(-KEPT), cursor };
}
