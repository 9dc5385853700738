import { own } from "../../../lib/json/foreign.ts";

/** The inputs that differ: the new value, or null for one that was taken out. */
export function difference(before: unknown, after: unknown): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  const next = (after ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  const other = names.filter((name) => JSON.stringify(own(old, name)) !== JSON.stringify(own(next, name)));
  return Object.fromEntries(other.map((name) => [name, own(next, name) ?? null]));
}
