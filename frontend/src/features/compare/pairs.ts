// The steps of two runs and their files, side by side.

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

export interface FilePair<File> {
  key: string;
  a: File | null;
  b: File | null;
}

/** Pairs the files of steps by name, the others by their order. */
export function filePairs<File extends { id: string; name: string }>(
  steps: readonly Pair<ComparedStep & { artifacts: readonly File[] }>[],
): FilePair<File>[] {
  return steps.flatMap(({ a, b }) => {
    const rest = [...(b?.artifacts ?? [])];
    const take = (at: number): File | null => (at === -1 ? null : (rest.splice(at, 1)[0] ?? null));
    const named = (a?.artifacts ?? []).map((one) => ({
      a: one,
      b: take(rest.findIndex(({ name }) => name === one.name)),
    }));
    const both = named.map((pair) => ({ a: pair.a, b: pair.b ?? take(rest.length === 0 ? -1 : 0) }));
    const found: { a: File | null; b: File | null }[] = [...both, ...rest.map((one) => ({ a: null, b: one }))];
    return found.map((pair) => ({ ...pair, key: `${pair.a?.id ?? ""} ${pair.b?.id ?? ""}` }));
  });
}

const DIGEST = /^(?:sha256:)?[0-9a-f]{64}$/;

/** A value with the names of files in place of their ids, and without digests: what a person can compare. */
export function readable(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === "string") return names.get(value) ?? value;
  if (Array.isArray(value)) return value.map((one: unknown) => readable(one, names));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, part]) => typeof part !== "string" || !DIGEST.test(part))
      .map(([name, part]) => [name, readable(part, names)]),
  );
}
