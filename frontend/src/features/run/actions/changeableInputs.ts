// The inputs of a run that a resume may change.

import { own, readJson } from "../../../lib/json/untrusted.ts";
import type { ChangeableInputsQuery } from "../run.generated.ts";

type RunInputs = NonNullable<ChangeableInputsQuery["run"]>;

interface InputSchema {
  properties?: Record<string, unknown>;
  required?: readonly string[];
}

/** The schema of the inputs that no succeeded step reads; null when there are none. */
export function changeableInputs({ version, steps }: Pick<RunInputs, "version" | "steps">): InputSchema | null {
  const schema = version?.inputSchema as (InputSchema & Record<string, unknown>) | null | undefined;
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
  // The inputs not shown already meet these rules.
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

/** The run's inputs that the schema names. */
export function pickInputs(inputs: unknown, { properties = {} }: InputSchema): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries((inputs ?? {}) as Record<string, unknown>).filter(([name]) => Object.hasOwn(properties, name)),
  );
}

/** The inputs that differ: the new value, or null for an input that was removed. */
export function changedInputs(before: unknown, after: unknown): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  const next = (after ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(old), ...Object.keys(next)])];
  const changed = names.filter((name) => JSON.stringify(own(old, name)) !== JSON.stringify(own(next, name)));
  return Object.fromEntries(changed.map((name) => [name, own(next, name) ?? null]));
}
