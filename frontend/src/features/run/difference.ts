/** The inputs that differ: the new value, or null for one that was taken out. */
export function difference(before: unknown, after: unknown): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  const next = (after ?? {}) as Record<string, unknown>;
  const found: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (JSON.stringify(old[name]) !== JSON.stringify(next[name])) found[name] = next[name] ?? null;
  }
  return found;
}
