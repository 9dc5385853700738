import { expect, test } from "vitest";

import { problemsByField, violationsOf } from "./schemaCheck.ts";

const SCHEMA = {
  type: "object",
  additionalProperties: false,
  required: ["title"],
  properties: {
    title: { type: "string", minLength: 1, maxLength: 5 },
    count: { type: "integer", minimum: 1, maximum: 40 },
    format: { $ref: "#/$defs/Format" },
    links: { type: "array", maxItems: 2, items: { type: "string", format: "uri" } },
    person: { type: "object", properties: { age: { type: "number", exclusiveMinimum: 0 } } },
  },
  $defs: { Format: { type: "string", enum: ["pdf", "html"] } },
};

test("what fits has no problems", () => {
  expect(
    violationsOf(SCHEMA, { title: "Tea", count: 3, format: "pdf", links: ["https://example.com"], person: { age: 1 } }),
  ).toEqual([]);
});

test.each([
  [{}, { title: "Required." }],
  [{ title: "" }, { title: "Must not be empty." }],
  [{ title: "Lighthouses" }, { title: "Must have at most 5 characters." }],
  [{ title: "Tea", count: 0 }, { count: "Must be 1 or more." }],
  [{ title: "Tea", count: 1.5 }, { count: "Must be a whole number." }],
  [{ title: "Tea", format: "doc" }, { format: "Must be one of pdf, html." }],
  [{ title: "Tea", links: ["nowhere"] }, { links: "At 0: Must be a URL, such as https://example.com/page." }],
  [{ title: "Tea", links: ["https://a.b", "https://a.c", "https://a.d"] }, { links: "Must have at most 2 items." }],
  [{ title: "Tea", person: { age: 0 } }, { person: "At age: Must be more than 0." }],
])("%j", (value, problems) => {
  expect(problemsByField(SCHEMA, value)).toEqual(problems);
});

test("a choice of fields names them, and its branches stay quiet", () => {
  const schema = {
    type: "object",
    properties: { url: { type: "string" }, file: { type: "string" } },
    oneOf: [{ required: ["url"] }, { required: ["file"] }],
  };
  expect(problemsByField(schema, {})).toEqual({ "": "Give one of url, file." });
  expect(problemsByField(schema, { url: "x" })).toEqual({});
});

test("a schema that cannot be read stands in nobody's way", () => {
  expect(violationsOf({ $ref: "https://elsewhere/x" }, {})).toEqual([]);
});

test("references that lead in circles or nowhere end no form", () => {
  const schema = {
    type: "object",
    properties: { a: { $ref: "#/$defs/100%" }, b: { $ref: "#/$defs/b/$ref" }, c: { type: "string", minLength: 1 } },
    $defs: { "100%": { type: "string" }, b: { $ref: "#/$defs/b/$ref" } },
  };
  expect(() => problemsByField(schema, { a: 1, c: "" })).not.toThrow();
  expect(() => problemsByField({ $ref: "#" }, 1)).not.toThrow();
  expect(
    problemsByField(
      { properties: { constructor: { type: "string" }, ["__proto__"]: { type: "string" } } },
      JSON.parse('{"constructor": 1, "__proto__": 2}'),
    ),
  ).toEqual(
    Object.fromEntries([
      ["constructor", "Must be a text."],
      ["__proto__", "Must be a text."],
    ]),
  );
});
