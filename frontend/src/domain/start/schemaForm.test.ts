import { expect, test } from "vitest";

import { changedValue, fieldsOf, UnreadableValue, textsOf, valuesOf } from "./schemaForm.ts";

const SCHEMA = {
  type: "object",
  required: ["title"],
  oneOf: [{ required: ["source_url"] }, { required: ["artifact"] }],
  properties: {
    angle: { type: "string", description: "What to stress." },
    artifact: { type: "string" },
    count: { anyOf: [{ type: "integer" }, { type: "null" }], default: null },
    format: { $ref: "#/$defs/Format", default: "pdf" },
    options: { type: "object" },
    parts: { type: "array", items: { type: "string" } },
    practice: { type: "boolean", default: true },
    source_url: { type: "string", maxLength: 2000, description: "Address of the document." },
    text: { type: "string", maxLength: 200_000 },
    title: { type: "string", examples: ["Lighthouses"] },
  },
  $defs: { Format: { type: "string", enum: ["pdf", "html"] } },
};

const fields = fieldsOf(SCHEMA);
const kind = (name: string) => fields.find((field) => field.name === name)?.kind;

test("what must be given comes first, then what one of must be given", () => {
  expect(fields.slice(0, 3).map(({ name }) => name)).toEqual(["title", "artifact", "source_url"]);
});

test("every type has its field", () => {
  expect(Object.fromEntries(fields.map((field) => [field.name, field.kind]))).toEqual({
    angle: "text",
    artifact: "file",
    count: "integer",
    format: "choice",
    options: "json",
    parts: "list",
    practice: "yes-no",
    source_url: "text",
    text: "long",
    title: "text",
  });
  expect(kind("nothing")).toBeUndefined();
});

test("names become labels; defaults and examples are shown", () => {
  expect(fields.find(({ name }) => name === "source_url")?.label).toBe("Source address");
  expect(fields.find(({ name }) => name === "format")).toMatchObject({ standard: "pdf", choices: ["pdf", "html"] });
  expect(fields.find(({ name }) => name === "practice")?.standard).toBe("true");
  expect(fields.find(({ name }) => name === "title")).toMatchObject({ required: true, placeholder: "Lighthouses" });
});

test("what is typed becomes a value of its type; what is empty is left out", () => {
  expect(
    valuesOf(fields, {
      title: " A ",
      count: "3",
      practice: "false",
      parts: "a\n\n b ",
      options: '{"x": 1}',
      angle: "",
      format: "html",
    }),
  ).toEqual({
    title: " A ",
    count: 3,
    practice: false,
    parts: ["a", "b"],
    options: { x: 1 },
    format: "html",
  });
});

test.each([
  ["count", "many"],
  ["options", "{x}"],
])("%s that cannot be read is reported at its field", (name, text) => {
  expect(() => valuesOf(fields, { [name]: text })).toThrow(UnreadableValue);
});

test("a schema without properties has no fields", () => {
  expect(fieldsOf({ type: "object" })).toEqual([]);
});

test("a form over a value changes what was touched and nothing else", () => {
  const before = { title: "A", count: 2, parts: ["a"], _session_id: "s", practice: false };
  const texts = textsOf(fields, before);
  expect(changedValue(fields, before, texts)).toEqual(before);
  expect(changedValue(fields, before, { ...texts, title: "B", count: "" })).toEqual({
    title: "B",
    parts: ["a"],
    _session_id: "s",
    practice: false,
  });
});

test("schemas that refer to themselves become fields, too", () => {
  const schema = {
    properties: { tree: { $ref: "#/$defs/tree" }, loop: { $ref: "#/$defs/one" } },
    $defs: {
      tree: { type: "object", properties: { child: { $ref: "#/$defs/tree" } } },
      one: { $ref: "#/$defs/other" },
      other: { $ref: "#/$defs/one", description: "Round and round." },
    },
  };
  expect(fieldsOf(schema).map((field) => [field.name, field.kind, field.description])).toEqual([
    ["tree", "json", ""],
    ["loop", "json", "Round and round."],
  ]);
});

test("what is no schema says nothing, and takes no form with it", () => {
  const properties = {
    yes: true,
    none: null,
    text: "string",
    list: [],
    number: { type: 5, description: 7, enum: {}, examples: "a", maxLength: "long", items: "x", anyOf: 3, $ref: 4 },
  };
  expect(
    fieldsOf({ properties, required: "yes", anyOf: {}, oneOf: [null, true, { required: 3 }] }).map((field) => [
      field.name,
      field.kind,
      field.description,
    ]),
  ).toEqual(Object.keys(properties).map((name) => [name, "json", ""]));
  for (const schema of [null, undefined, true, [], "x", { properties: [] }, { properties: null }])
    expect(fieldsOf(schema)).toEqual([]);
});
