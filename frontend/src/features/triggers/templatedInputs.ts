import { changedValue, type Field, valuesOf } from "../../domain/start/schemaForm.ts";
import { own, readJson } from "../../lib/json/untrusted.ts";

/** Whether a text holds a template that its field cannot read as a value, such as a number. */
export function isTemplated(field: Field, text: string): boolean {
  if (!text.includes("${{")) return false;
  if (field.kind === "json") return readJson(text) === null;
  return field.kind === "number" || field.kind === "integer";
}

/** The inputs of a form whose texts may be templates; those are sent as text. Throws UnreadableValue. */
export function templatedInputs(
  fields: readonly Field[],
  texts: Readonly<Record<string, string>>,
  before?: unknown,
): Record<string, unknown> {
  const templated = fields.filter((field) => isTemplated(field, own(texts, field.name) ?? ""));
  const plain = fields.filter((field) => !templated.includes(field));
  return {
    ...(before === undefined ? valuesOf(plain, texts) : changedValue(plain, before, texts)),
    ...Object.fromEntries(templated.map(({ name }) => [name, (own(texts, name) ?? "").trim()])),
  };
}
