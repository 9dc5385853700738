// What can be written at a place of the definition: keys, names of packs, values that a schema lists.

import { resolved, type Schema } from "../../../domain/start/schemaForm.ts";
import { withBase } from "../../../lib/server/base.ts";
import { once } from "../../../lib/server/once.ts";
import { type Definition, isObject } from "../definition/definition.ts";
import { typeWord } from "../definition/suggestions.ts";
import { type Place, placeAt } from "./place.ts";

/** A pack as the completion of `pack:` shows it. */
export interface PackName {
  name: string;
  version: string;
  description: string;
}

interface StepPack {
  installedVersions: readonly string[];
  inputSchema: unknown;
}

export interface Knowledge {
  /** The text as it was when it could last be read. */
  definition: Definition;
  packs: ReadonlyMap<string, StepPack>;
  packNames: () => Promise<readonly PackName[]>;
  /** JSON Schema of a definition. */
  schema: () => Promise<Schema>;
}

export interface Option {
  label: string;
  detail: string;
  info: string;
  /** What is written. */
  text: string;
  /** Whether its value comes next, which may have options of its own. */
  isKey: boolean;
}

/** A declared input is JSON Schema; these are the words of it that forms show. */
const DECLARED: Schema = {
  properties: {
    type: { enum: ["string", "integer", "number", "boolean", "array", "object"], description: "Kind of value." },
    title: { type: "string", description: "Label of the field." },
    description: { type: "string", description: "What to enter." },
    default: { description: "Value if none is given." },
    enum: { type: "array", description: "The only values that are allowed." },
    examples: { type: "array", description: "Values that show what is meant." },
    items: { type: "object", description: "Schema of the entries of a list." },
    minimum: { type: "number", description: "Smallest number." },
    maximum: { type: "number", description: "Largest number." },
    minLength: { type: "integer", description: "Fewest characters." },
    maxLength: { type: "integer", description: "Most characters." },
  },
};

/** The schema the server publishes for editors. */
export const definitionSchema = once(load);

async function load(): Promise<Schema> {
  const answer = await fetch(withBase("/schema/pipeline.json"));
  if (!answer.ok) throw new Error(`The schema of definitions could not be loaded (HTTP ${answer.status}).`);
  const schema = (await answer.json()) as Schema & { definitions?: Record<string, Schema> };
  // Triggers are part of a file that is applied, not of a definition.
  const { triggers: _, ...properties } = schema.properties ?? {};
  return { ...schema, properties, $defs: schema.definitions ?? {} };
}

/** What can be written at a position and where it begins; null for free text. */
export async function optionsAt(
  text: string,
  position: number,
  knowledge: Knowledge,
): Promise<{ from: number; options: Option[] } | null> {
  const place = placeAt(text, position);
  // Not ahead of something on the line, but for what ends a value in braces.
  const ahead = text.slice(position).split("\n", 1)[0]?.trim() ?? "";
  if (place === null || (ahead !== "" && (place.inBraces === null || !/^[,}\]]/.test(ahead)))) return null;
  const options = place.key === null ? await keysAt(place, knowledge) : await valuesAt(place, place.key, knowledge);
  if (options.length === 0) return null;
  const space = place.key !== null && text[place.from - 1] === ":" ? " " : "";
  return { from: place.from, options: options.map((option) => ({ ...option, text: space + option.text })) };
}

async function keysAt(place: Place, knowledge: Knowledge): Promise<Option[]> {
  const mapping = schemaAt(place.path, await knowledge.schema(), knowledge);
  if (mapping === null) return [];
  const { schema, root } = mapping;
  const present = place.path.reduce<unknown>(
    (value, part) => (Array.isArray(value) || isObject(value) ? (value as Record<string, unknown>)[part] : undefined),
    knowledge.definition.value,
  );
  const taken = new Set([...(isObject(present) ? Object.keys(present) : []), ...(place.inBraces ?? [])]);
  const required = new Set(schema.required);
  const deeper = `\n${" ".repeat(place.column + 2)}`;
  return Object.entries(schema.properties ?? {})
    .filter(([name]) => !taken.has(name))
    .map(([name, given]) => {
      const field = resolved(given, root);
      // In braces, the value follows on the same line.
      const holds = place.inBraces === null ? [field.type ?? []].flat()[0] : undefined;
      return {
        label: name,
        detail: required.has(name) ? `${typeWord(field)}, required` : typeWord(field),
        info: given.description ?? field.description ?? "",
        text: `${name}:${holds === "object" ? deeper : holds === "array" ? `${deeper}- ` : " "}`,
        isKey: true,
      };
    });
}

async function valuesAt(place: Place, key: string, knowledge: Knowledge): Promise<Option[]> {
  const [root, index] = place.path;
  if (root === "steps" && place.path.length === 2 && (key === "pack" || key === "version")) {
    if (key === "pack")
      return (await knowledge.packNames()).map(({ name, version, description }) =>
        valueOption(name, { detail: version, info: firstParagraph(description) }),
      );
    const pack = knowledge.packs.get(knowledge.definition.steps[Number(index)]?.pack ?? "");
    const majors = new Set(pack?.installedVersions.map((version) => version.split(".")[0] ?? version));
    return [...majors].map((major) => valueOption(major, { detail: "major version", text: JSON.stringify(major) }));
  }
  const mapping = schemaAt(place.path, await knowledge.schema(), knowledge);
  const given = mapping?.schema.properties?.[key];
  if (mapping === null || given === undefined) return [];
  const field = resolved(given, mapping.root);
  const listed = field.enum ?? ([field.type].flat().includes("boolean") ? [true, false] : []);
  return listed.map((one) =>
    valueOption(String(one), {
      detail: one === field.default ? "default" : "",
      text: typeof one === "string" && !isPlain(one) ? JSON.stringify(one) : String(one),
    }),
  );
}

function valueOption(label: string, { detail = "", info = "", text = label }: Partial<Option>): Option {
  return { label, detail, info, text, isKey: false };
}

function firstParagraph(text: string): string {
  return (text.split(/\n\s*\n/)[0] ?? "").replaceAll(/\s+/g, " ").trim();
}

/** Whether a text means itself in YAML without quotes. */
function isPlain(text: string): boolean {
  return /^[a-z][\w ./-]*$/i.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text);
}

/** The schema of the mapping at a path, and what its references are resolved in; null where anything goes. */
function schemaAt(
  path: Place["path"],
  definition: Schema,
  { definition: { steps }, packs }: Knowledge,
): { schema: Schema; root: Schema } | null {
  let [schema, root] = [definition, definition];
  for (const [depth, part] of path.entries()) {
    const step = path[0] === "steps" ? steps[Number(path[1])] : undefined;
    let next: Schema | undefined;
    if (path[0] === "steps" && depth === 1) {
      const kinds = (schema.items?.anyOf ?? []).map((kind) => resolved(kind, root));
      // By what the step has already; with neither, either can begin.
      const begun = kinds.filter(({ required }) =>
        required?.some((name) => name !== "id" && name in (step?.value ?? {})),
      );
      const fitting = begun.length === 0 ? kinds : begun;
      next = {
        properties: Object.assign({}, ...fitting.map(({ properties }) => properties ?? {})) as Record<string, Schema>,
        required: fitting.length === 1 ? (fitting[0]?.required ?? []) : ["id"],
      };
    } else if (path[0] === "steps" && depth === 2 && part === "input") {
      const input = packs.get(step?.pack ?? "")?.inputSchema;
      if (!isObject(input)) return null;
      root = input;
      next = root;
    } else if (path[0] === "inputs" && path[1] === "properties" && depth === 2) next = DECLARED;
    else next = typeof part === "number" ? schema.items : schema.properties?.[part];
    if (next === undefined) return null;
    schema = resolved(next, root);
  }
  return { schema, root };
}
