// Which of a run's inputs a resume may change.

import { readJson } from "../../../lib/json/foreign.ts";
import type { UnreadInputsQuery } from "../run.generated.ts";

type Told = NonNullable<UnreadInputsQuery["run"]>;

interface Narrow {
  properties?: Record<string, unknown>;
  required?: readonly string[];
}

/** The schema of those inputs that no step which has succeeded reads; null when there are none. */
export function unreadInputs({ version, steps }: Pick<Told, "version" | "steps">): Narrow | null {
  const schema = version?.inputSchema as (Narrow & Record<string, unknown>) | null | undefined;
  const read = new Set(
    steps
      .filter(({ state }) => state === "SUCCEEDED")
      .flatMap(({ step }) =>
        (step?.references ?? []).flatMap(({ sourceStep, sourcePath }) =>
          sourceStep === null ? [rootOf(sourcePath)] : [],
        ),
      ),
  );
  const left = Object.entries(schema?.properties ?? {}).filter(([name]) => !read.has(name));
  if (schema === null || schema === undefined || left.length === 0) return null;
  // What is required of those that are not shown is met already.
  const { anyOf: _any, oneOf: _one, allOf: _all, dependentRequired: _dependent, ...whole } = schema;
  return {
    ...whole,
    properties: Object.fromEntries(left),
    required: (schema.required ?? []).filter((name) => !read.has(name)),
  };
}

/** The input of a path such as `text`, `data.rows[0]` or `["odd name"].x`. */
function rootOf(path: string): string {
  const quoted = /^\[("(?:[^"\\]|\\.)*")\]/.exec(path)?.[1];
  if (quoted === undefined) return path.split(/[.[]/, 1)[0] ?? path;
  const name = readJson(quoted)?.json;
  return typeof name === "string" ? name : quoted;
}

/** Those of a run's inputs that such a schema names. */
export function shownOf(inputs: unknown, { properties = {} }: Narrow): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries((inputs ?? {}) as Record<string, unknown>).filter(([name]) => Object.hasOwn(properties, name)),
  );
}
