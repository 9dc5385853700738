// What differs between two texts, line by line, with the words that differ inside changed lines.

import { diffArrays, diffWordsWithSpace } from "diff";

export interface Part {
  text: string;
  changed: boolean;
}

export interface Line {
  kind: "same" | "added" | "removed";
  /** Line numbers in the old and the new text; null where the line is missing. */
  old: number | null;
  now: number | null;
  parts: Part[];
}

/** Lines with at most a few unchanged ones around every change; a number is the count of omitted lines. */
export type Shown = Line | number;

const AROUND = 3;
/** Longer lines are not compared word by word. */
const LONGEST_COMPARED = 1000;
/** Nor are more lines than this; a page is read, not searched for what differs in thousands. */
const MOST_COMPARED = 1000;
/** Texts that differ in more lines are not aligned: the cost is quadratic. */
const MOST_EDITS = 4000;

export function lineDiff(before: string, after: string): Line[] {
  const lines: Line[] = [];
  let [old, now] = [0, 0];
  for (const { value, added, removed } of linedUp(linesOf(before), linesOf(after))) {
    for (const text of value) {
      const kind = added ? "added" : removed ? "removed" : "same";
      if (kind !== "added") old += 1;
      if (kind !== "removed") now += 1;
      lines.push({
        kind,
        old: kind === "added" ? null : old,
        now: kind === "removed" ? null : now,
        parts: [{ text, changed: false }],
      });
    }
  }
  markWords(lines);
  return lines;
}

/** The fallback for texts with little in common: all old lines, then all new ones. */
function linedUp(before: string[], after: string[]): { value: string[]; added: boolean; removed: boolean }[] {
  const parts = diffArrays(before, after, { maxEditLength: MOST_EDITS });
  return (
    parts ?? [
      { value: before, added: false, removed: true },
      { value: after, added: true, removed: false },
    ]
  );
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Equal numbers of removed and added lines are treated as changed lines. */
function markWords(lines: Line[]): void {
  let left = MOST_COMPARED;
  for (let at = 0; at < lines.length;) {
    const kind = lines[at]?.kind;
    let end = at;
    while (lines[end]?.kind === "removed") end += 1;
    const removed = lines.slice(at, end);
    let last = end;
    while (lines[last]?.kind === "added") last += 1;
    const added = lines.slice(end, last);
    if (kind === "removed" && removed.length === added.length) {
      for (const [index, one] of removed.entries()) {
        const other = added[index];
        if (other !== undefined && left > 0) compare(one, other);
        left -= 1;
      }
    }
    at = Math.max(last, at + 1);
  }
}

function compare(one: Line, other: Line): void {
  const [before, after] = [one.parts[0]?.text ?? "", other.parts[0]?.text ?? ""];
  if (before.length > LONGEST_COMPARED || after.length > LONGEST_COMPARED) return;
  const words = diffWordsWithSpace(before, after);
  one.parts = words.filter(({ added }) => !added).map(({ value, removed }) => ({ text: value, changed: removed }));
  other.parts = words.filter(({ removed }) => !removed).map(({ value, added }) => ({ text: value, changed: added }));
}

export function folded(lines: readonly Line[]): Shown[] {
  const near = new Set(
    lines.flatMap(({ kind }, at) =>
      kind === "same" ? [] : Array.from({ length: 2 * AROUND + 1 }, (_, step) => at - AROUND + step),
    ),
  );
  const shown: Shown[] = [];
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1);
    if (near.has(at)) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  }
  return shown;
}

/** Pairs old and new lines, removed ones next to their replacements. */
export function sideBySide(lines: readonly Shown[]): (readonly [Line | null, Line | null] | number)[] {
  const rows: ([Line | null, Line | null] | number)[] = [];
  // The first row since the last unchanged line without a new line.
  let open = 0;
  for (const line of lines) {
    if (typeof line === "number") rows.push(line);
    else if (line.kind === "removed") rows.push([line, null]);
    else if (line.kind === "same") rows.push([line, line]);
    else {
      while (isTaken(rows[open])) open += 1;
      const row = rows[open];
      if (typeof row === "object") row[1] = line;
      else rows.push([null, line]);
      continue;
    }
    if (typeof line === "number" || line.kind === "same") open = rows.length;
  }
  return rows;
}

function isTaken(row: readonly [Line | null, Line | null] | number | undefined): boolean {
  return row !== undefined && (typeof row === "number" || row[1] !== null);
}

export function countChanges(lines: readonly Line[]): { added: number; removed: number } {
  return {
    added: lines.filter(({ kind }) => kind === "added").length,
    removed: lines.filter(({ kind }) => kind === "removed").length,
  };
}
