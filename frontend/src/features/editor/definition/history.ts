// The undo history of a definition's text. Consecutive changes of one field are one undo step.

export interface History {
  text: string;
  past: readonly string[];
  future: readonly string[];
  /** The field of the latest change, to group consecutive changes; null for a separate change. */
  at: string | null;
}

export type Change = { kind: "change"; text: string; at: string | null } | { kind: "undo" } | { kind: "redo" };

const MAX_UNDO = 200;

export function initialHistory(text: string): History {
  return { text, past: [], future: [], at: null };
}

export function historyReducer(now: History, change: Change): History {
  switch (change.kind) {
    case "change": {
      if (change.text === now.text) return now;
      const together = change.at !== null && change.at === now.at;
      return {
        text: change.text,
        past: together ? now.past : [...now.past.slice(-MAX_UNDO), now.text],
        future: [],
        at: change.at,
      };
    }
    case "undo": {
      const before = now.past.at(-1);
      return before === undefined
        ? now
        : { text: before, past: now.past.slice(0, -1), future: [now.text, ...now.future], at: null };
    }
    case "redo": {
      const [after] = now.future;
      return after === undefined
        ? now
        : { text: after, past: [...now.past, now.text], future: now.future.slice(1), at: null };
    }
    default:
      return change satisfies never;
  }
}
