// From an input schema to fields, and from what was typed to a value. The server checks; this only reads.

import { own, readJson } from "../../lib/json/untrusted.ts";

export type FieldKind = "text" | "long" | "number" | "integer" | "yes-no" | "choice" | "list" | "file" | "json";

export interface Field {
  name: string;
  label: string;
  kind: FieldKind;
  required: boolean;
  description: string;
  placeholder: string;
  choices: string[];
  /** The server's default as text; empty when there is none. */
  standard: string;
}

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  title?: string;
  description?: string;
  default?: unknown;
  examples?: unknown[];
  maxLength?: number;
  $ref?: string;
  $defs?: Record<string, Schema>;
}

const LONG_TEXT = 1000;
/** The naming convention of inputs that take an artifact id, in packs and starters. */
const FILE_NAME = /(^|_)artifact(_id|_key)?$/;

export function fieldsOf(inputSchema: unknown): Field[] {
  const schema = schemaOrEmpty(inputSchema);
  const required = new Set(schema.required);
  const fields = Object.entries(schema.properties ?? {}).map(([name, given]) =>
    fieldOf(name, resolved(given, schema), required.has(name)),
  );
  // What must be given first, then what one of must be given, then the rest.
  const choices = new Set(
    [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].flatMap((choice) => schemaOrEmpty(choice).required ?? []),
  );
  const rank = ({ name }: Field) => (required.has(name) ? 0 : choices.has(name) ? 1 : 2);
  return fields.toSorted((one, other) => rank(one) - rank(other));
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const plain = kindOf(schema);
  const kind = plain === "text" && FILE_NAME.test(name) ? "file" : plain;
  return {
    name,
    label: label(name),
    kind,
    required,
    description: schema.description ?? "",
    placeholder: asText(schema.examples?.[0], kind),
    choices: (schema.enum ?? [])
      .filter((choice) => choice !== null)
      .map((choice) => (typeof choice === "string" ? choice : JSON.stringify(choice))),
    standard: schema.default === null ? "" : asText(schema.default, kind),
  };
}

/** A schema with its references resolved; a recursive reference is resolved once. */
export function resolved(given: unknown, root: Schema, passed: readonly unknown[] = []): Schema {
  const schema = schemaOrEmpty(given);
  if (passed.includes(given)) return schema;
  const on = [...passed, given];
  const name = schema.$ref?.split("/").at(-1);
  const target = name === undefined ? undefined : own(root.$defs, name);
  if (target !== undefined) return { ...resolved(target, root, on), ...schema };
  // `null` next to one other type only makes the field optional.
  const others = schema.anyOf?.filter((choice) => schemaOrEmpty(choice).type !== "null");
  const only = others?.length === 1 ? others[0] : undefined;
  return only === undefined ? schema : { ...schema, ...resolved(only, root, on) };
}

const isText = (value: unknown): value is string => typeof value === "string";
const isSchema = (value: unknown): value is Schema =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/** The schema as an object; anything else, such as `true`, is an empty schema to a form. */
function schemaOrEmpty(given: unknown): Schema {
  if (!isSchema(given)) return {};
  const {
    type,
    properties,
    required,
    enum: choices,
    items,
    anyOf,
    oneOf,
    description,
    examples,
    maxLength,
    $ref,
    $defs,
  } = given as Record<string, unknown>;
  const types = isText(type) ? type : Array.isArray(type) ? type.filter(isText) : undefined;
  return {
    ...(given.default === undefined ? {} : { default: given.default }),
    ...(types === undefined ? {} : { type: types }),
    ...(isSchema(properties) ? { properties: properties as Record<string, Schema> } : {}),
    ...(Array.isArray(required) ? { required: required.filter(isText) } : {}),
    ...(Array.isArray(choices) ? { enum: choices } : {}),
    ...(isSchema(items) ? { items } : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf as Schema[] } : {}),
    ...(Array.isArray(oneOf) ? { oneOf: oneOf as Schema[] } : {}),
    ...(isText(description) ? { description } : {}),
    ...(Array.isArray(examples) ? { examples } : {}),
    ...(typeof maxLength === "number" ? { maxLength } : {}),
    ...(isText($ref) ? { $ref } : {}),
    ...(isSchema($defs) ? { $defs: $defs as Record<string, Schema> } : {}),
  };
}

function kindOf(schema: Schema): FieldKind {
  if (schema.enum !== undefined) return "choice";
  const types = [schema.type ?? []].flat().filter((type) => type !== "null");
  const type = types.length === 1 ? types[0] : undefined;
  if (type === "string")
    return (schema.maxLength ?? 0) > LONG_TEXT && !schema.description?.startsWith("Address") ? "long" : "text";
  if (type === "number" || type === "integer") return type;
  if (type === "boolean") return "yes-no";
  if (type === "array" && schema.items?.type === "string" && schema.items.enum === undefined) return "list";
  return "json";
}

function label(name: string): string {
  if (name.trim() === "") return "No name";
  const words = name
    .replaceAll("_", " ")
    .replace(/\burl\b/, "address")
    .replace(/\bid\b/, "ID");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A value as the text of its field. */
export function asText(value: unknown, kind: FieldKind): string {
  if (value === undefined || value === null) return "";
  if (kind === "list" && Array.isArray(value)) return value.join("\n");
  if (typeof value === "string" && kind !== "json") return value;
  return JSON.stringify(value, null, kind === "json" ? 2 : undefined);
}

export class UnreadableValue extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/**
 * The values of a form. Empty fields are omitted, so that the server's default applies.
 *
 * Throws UnreadableValue when a text is not a number or not JSON.
 */
export function valuesOf(fields: readonly Field[], texts: Readonly<Record<string, string>>): Record<string, unknown> {
  return Object.fromEntries(
    fields.flatMap((field) => {
      const text = own(texts, field.name) ?? "";
      return text.trim() === "" ? [] : [[field.name, valueOf(field, text)]];
    }),
  );
}

/** A value as the texts of a form. */
export function textsOf(fields: readonly Field[], value: unknown): Record<string, string> {
  const given = (value ?? {}) as Record<string, unknown>;
  return Object.fromEntries(fields.map(({ name, kind }) => [name, asText(own(given, name), kind)]));
}

/**
 * The value a form began with, changed as its texts were.
 *
 * Untouched parts stay, also those without a field; emptied fields are omitted.
 */
export function changedValue(
  fields: readonly Field[],
  before: unknown,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const given = (before ?? {}) as Record<string, unknown>;
  const began = textsOf(fields, before);
  const touched = fields.filter(({ name }) => (own(texts, name) ?? "") !== own(began, name));
  const names = new Set(touched.map(({ name }) => name));
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !names.has(name)));
  return { ...kept, ...valuesOf(touched, texts) };
}

function valueOf(field: Field, text: string): unknown {
  switch (field.kind) {
    case "number":
    case "integer": {
      const value = Number(text.trim());
      if (Number.isNaN(value)) throw new UnreadableValue(field.name, "This is not a number.");
      return value;
    }
    case "yes-no":
      return text === "true";
    case "list":
      return text
        .split("\n")
        .map((line) => line.trim())
        .filter((line) => line !== "");
    case "json": {
      const read = readJson(text);
      if (read === null) throw new UnreadableValue(field.name, 'This is not JSON. Put text in quotes: "text".');
      return read.json;
    }
    case "file":
      return text.trim();
    case "choice":
    case "text":
    case "long":
      return text;
    default:
      return field.kind satisfies never;
  }
}
