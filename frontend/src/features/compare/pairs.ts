// The steps of two runs side by side.

export interface ComparedStep {
  key: string;
  attempts: readonly { startedAt: string; endedAt: string | null }[];
}

export interface Pair<Step extends ComparedStep> {
  key: string;
  a: Step | null;
  b: Step | null;
}

/** Pairs steps by key, in the order of the first run. Steps only in the second run keep their position there. */
export function pairs<Step extends ComparedStep>(first: readonly Step[], second: readonly Step[]): Pair<Step>[] {
  const found: Pair<Step>[] = first.map((a) => ({ key: a.key, a, b: second.find(({ key }) => key === a.key) ?? null }));
  for (const [index, b] of second.entries()) {
    if (found.some(({ key }) => key === b.key)) continue;
    const before = second[index - 1]?.key;
    const place = before === undefined ? 0 : found.findIndex(({ key }) => key === before) + 1;
    found.splice(place, 0, { key: b.key, a: null, b });
  }
  return found;
}

/** Total seconds of a step's attempts; null without attempts or while one is running. */
export function tookSeconds(step: ComparedStep | null): number | null {
  if (step === null || step.attempts.length === 0 || step.attempts.some(({ endedAt }) => endedAt === null)) return null;
  return step.attempts.reduce(
    (sum, { startedAt, endedAt }) => sum + (Date.parse(endedAt ?? startedAt) - Date.parse(startedAt)) / 1000,
    0,
  );
}
