// Keeps the formatting of a text where an edit did not touch it. Serialising a YAML document re-folds texts and
// normalises spaces, but the next diff should show only the edit.

import { diffArrays } from "diff";

interface Hunk {
  /** Lines of the base that it replaces: from, and up to but not including. */
  from: number;
  to: number;
  lines: string[];
}

/**
 * The edit that leads from `base` to `edited`, applied to `original`.
 *
 * `base` is `original`, parsed and serialised again. Where the edit touches lines formatted otherwise in `original`,
 * the edit's lines win.
 */
export function preserveFormatting(original: string, base: string, edited: string): string {
  if (original === base) return edited;
  const lines = base.split("\n");
  const written = hunks(lines, original.split("\n"));
  const changed = hunks(lines, edited.split("\n"));
  const result: string[] = [];
  let at = 0;
  while (written.length > 0 || changed.length > 0) {
    const from = Math.min(written[0]?.from ?? Infinity, changed[0]?.from ?? Infinity);
    let to = from;
    const mine: Hunk[] = [];
    const theirs: Hunk[] = [];
    for (;;) {
      if (written[0] !== undefined && written[0].from <= to) theirs.push(written[0]);
      else if (changed[0] !== undefined && changed[0].from <= to) mine.push(changed[0]);
      else break;
      const taken = written[0] !== undefined && written[0].from <= to ? written.shift() : changed.shift();
      to = Math.max(to, taken?.to ?? to);
    }
    result.push(...lines.slice(at, from), ...applied(lines, from, to, mine.length > 0 ? mine : theirs));
    at = to;
  }
  result.push(...lines.slice(at));
  return result.join("\n");
}

function applied(lines: readonly string[], from: number, to: number, changes: readonly Hunk[]): string[] {
  const result: string[] = [];
  let at = from;
  for (const change of changes) {
    result.push(...lines.slice(at, change.from), ...change.lines);
    at = change.to;
  }
  return [...result, ...lines.slice(at, to)];
}

function hunks(base: string[], other: string[]): Hunk[] {
  const found: Hunk[] = [];
  let at = 0;
  let open: Hunk | null = null;
  for (const part of diffArrays(base, other)) {
    if (!part.added && !part.removed) {
      at += part.value.length;
      open = null;
      continue;
    }
    if (open === null) {
      open = { from: at, to: at, lines: [] };
      found.push(open);
    }
    if (part.removed) {
      at += part.value.length;
      open.to = at;
    } else open.lines.push(...part.value);
  }
  return found;
}
