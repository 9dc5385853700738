// The differences between two JSON values, leaf by leaf.

import { own } from "./untrusted.ts";

export interface Difference {
  /** Dotted path; empty for the whole value. */
  path: string;
  /** Absent where only the other has it. */
  before?: unknown;
  after?: unknown;
}

/** Every leaf that differs, in the order of the first value, then of the second. */
export function differences(before: unknown, after: unknown, path = ""): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (!isBranch(before) || !isBranch(after) || Array.isArray(before) !== Array.isArray(after))
    return [leaf(path, before, after)];
  const [old, next] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].flatMap((name) =>
    differences(own(old, name), own(next, name), path === "" ? name : `${path}.${name}`),
  );
}

function isBranch(value: unknown): value is object {
  return value !== null && typeof value === "object";
}

function leaf(path: string, before: unknown, after: unknown): Difference {
  return { path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) };
}
