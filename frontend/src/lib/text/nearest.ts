// The name somebody probably meant.

/** A name counts as near when at most this share of it was mistyped, or one letter. */
const MISTYPED = 1 / 3;

/** The known name that is nearest to what was given; null when none is near. */
export function nearest(given: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let least = Math.max(1, Math.floor(given.length * MISTYPED)) + 1;
  for (const name of known) {
    const away = editsBetween(given.toLowerCase(), name.toLowerCase());
    if (away < least) [best, least] = [name, away];
  }
  return best;
}

/** Edit distance with insertions, deletions, substitutions and transpositions. */
function editsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let index = 0; index < one.length; index += 1) {
    const next = [index + 1];
    for (let place = 0; place < other.length; place += 1) {
      const changed = (row[place] ?? 0) + (one[index] === other[place] ? 0 : 1);
      const swapped =
        index > 0 && place > 0 && one[index] === other[place - 1] && one[index - 1] === other[place]
          ? (before[place - 1] ?? 0) + 1
          : Infinity;
      next.push(Math.min((row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1, changed, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
