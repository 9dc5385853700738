// Values a step may use: the declared inputs and the outputs of earlier steps, with their types and their values in the
// last run.

import { resolved as schemaOf, type Schema } from "../../../domain/start/schemaForm.ts";
import { isObject, type StepEntry } from "./definition.ts";
import { dotted, type Known, type Segment, valueAt, written } from "./templates.ts";

export interface Suggestion {
  /** As it is written, braces included. */
  text: string;
  /** Without braces; what is searched. */
  path: string;
  /** Where it comes from: `input`, or the id of a step. */
  from: string;
  type: string;
  description: string;
  /** What it was in the last run, shortened; empty when that is not known. */
  example: string;
}

const DEEPEST = 3;
const EXAMPLE_LENGTH = 72;

export function suggestionsFor(
  index: number,
  steps: readonly StepEntry[],
  inputSchema: unknown,
  outputs: ReadonlyMap<string, unknown>,
  known: Known,
): Suggestion[] {
  const suggestions: Suggestion[] = [];
  for (const step of steps.slice(0, Math.max(0, index)).toReversed()) {
    if (step.id === "") continue;
    const schema = outputs.get(step.pack);
    suggestions.push(...fields(["steps", step.id, "output"], schema, step.id, known));
    if (schema === undefined) suggestions.push(suggestion(["steps", step.id, "output"], {}, step.id, known));
  }
  suggestions.push(...fields(["inputs"], inputSchema, "input", known));
  return suggestions;
}

function fields(base: Segment[], given: unknown, from: string, known: Known): Suggestion[] {
  const found: Suggestion[] = [];
  const root = (isObject(given) ? given : {}) as Schema;
  walk(base, schemaOf(root, root), 0);
  return found;

  function walk(path: Segment[], schema: Schema, depth: number): void {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const at = [...path, name];
      const field = schemaOf(property, root);
      found.push(suggestion(at, field, from, known, property));
      if (depth + 1 >= DEEPEST) continue;
      walk(at, field, depth + 1);
      if (field.items !== undefined) walk([...at, 0], schemaOf(field.items, root), depth + 1);
    }
  }
}

function suggestion(path: Segment[], schema: Schema, from: string, known: Known, given: Schema = schema): Suggestion {
  return {
    text: written(path),
    path: dotted(path),
    from,
    type: typeWord(schema),
    description: given.description ?? schema.description ?? "",
    example: shortened(valueAt(path, known)),
  };
}

const WORDS: Record<string, string> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "yes or no",
  array: "list",
  object: "object",
  null: "nothing",
};

export function typeWord(schema: Schema): string {
  if (schema.enum !== undefined) return "choice";
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  if (types.length === 0) return "anything";
  return types.map((type) => WORDS[type] ?? type).join(" or ");
}

export function shortened(value: unknown): string {
  if (value === undefined) return "";
  const text = (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/g, " ").trim();
  return text.length > EXAMPLE_LENGTH ? `${text.slice(0, EXAMPLE_LENGTH)}…` : text;
}

/** Those that hold what was typed, best first: where a part of the path begins with it. */
export function fitting(suggestions: readonly Suggestion[], typed: string): Suggestion[] {
  const wanted = typed.toLowerCase();
  if (wanted === "") return [...suggestions];
  const rank = ({ path, description }: Suggestion): number => {
    const low = path.toLowerCase();
    if (low.startsWith(wanted)) return 0;
    if (low.split(/[.[]/).some((part) => part.startsWith(wanted))) return 1;
    return low.includes(wanted) ? 2 : description.toLowerCase().includes(wanted) ? 3 : 4;
  };
  return suggestions
    .map((one) => ({ one, rank: rank(one) }))
    .filter((each) => each.rank < 4)
    .sort((one, other) => one.rank - other.rank)
    .map(({ one }) => one);
}
