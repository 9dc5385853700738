// The `notFound` extension of a response: names that do not exist, with hints.

import { plain } from "../../lib/text/plain.ts";

interface Miss {
  /** The known name nearest to the one that was given. */
  closest: string | null;
  /** What to do, for people. */
  hint: string | null;
}

const NONE: Miss = { closest: null, hint: null };

/** The hint for a name in a response's extensions, which are read as untrusted. */
export function notFoundHint(extensions: Readonly<Record<string, unknown>> | undefined, ref: string): Miss {
  const misses = extensions?.["notFound"];
  if (!Array.isArray(misses)) return NONE;
  const miss = (misses as { ref?: unknown; hintParts?: { closest?: unknown; text?: unknown } | null }[]).find(
    (one) => one.ref === ref,
  );
  return { closest: textOf(miss?.hintParts?.closest), hint: textOf(miss?.hintParts?.text) };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? plain(value) : null;
}
