import { expect, test } from "vitest";

import { fieldsOf } from "../../domain/start/schemaForm.ts";
import { templatedInputs } from "./templatedInputs.ts";

const FIELDS = fieldsOf({
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    tags: { type: "array", items: { type: "string" } },
    extra: { type: "object" },
  },
});

test("a template is sent as text, also where a number or an object is wanted", () => {
  const texts = {
    title: "On ${{ trigger.scheduled_at }}",
    count: "${{ trigger.n }}",
    extra: "${{ trigger.x }}",
    tags: "a",
  };
  expect(templatedInputs(FIELDS, texts)).toEqual({
    title: "On ${{ trigger.scheduled_at }}",
    count: "${{ trigger.n }}",
    extra: "${{ trigger.x }}",
    tags: ["a"],
  });
});

test("JSON with a template within stays JSON", () => {
  expect(templatedInputs(FIELDS, { extra: '{"at": "${{ trigger.scheduled_at }}"}' })).toEqual({
    extra: { at: "${{ trigger.scheduled_at }}" },
  });
});

test("inputs that were not touched, or have no field, are kept as they are", () => {
  const before = { title: "tea", count: "${{ trigger.n }}", hidden: 1 };
  const texts = { title: "coffee", count: "${{ trigger.n }}", tags: "", extra: "" };
  expect(templatedInputs(FIELDS, texts, before)).toEqual({ title: "coffee", count: "${{ trigger.n }}", hidden: 1 });
});
