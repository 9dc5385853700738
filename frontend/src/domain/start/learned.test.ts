import { expect, test } from "vitest";

import { prefilled, learnedValues } from "./learned.ts";
import { fieldsOf } from "./schemaForm.ts";

const known = {
  uses: 6,
  values: [
    { field: "PERSONA", value: "executive", count: 6, source: "6 of your 6 successful uses.", pinned: false },
    { field: "PERSONA_USED", value: "engineer", count: 4, source: "4 of your 6 successful uses.", pinned: false },
    { field: "THEME", value: "dark", count: 0, source: "You pinned it.", pinned: true },
    { field: "VOICE", value: null, count: 0, source: "You chose never to learn it.", pinned: false },
  ],
};

const fields = fieldsOf({
  type: "object",
  properties: {
    persona: { type: "string" },
    persona_used: { type: "integer" },
    theme: { enum: ["light", "plain"] },
    voice: { type: "string" },
    constructor: { type: "string" },
  },
});

test("a usual value says where it comes from, and an excluded field has none", () => {
  const usual = learnedValues(known);
  expect(Object.fromEntries(Object.entries(usual).map(([name, { from }]) => [name, from]))).toEqual({
    persona: "from your last 6 runs",
    persona_used: "from 4 of your last 6 runs",
    theme: "pinned by you",
  });
});

test("only fields that can hold it and that nobody touched are filled in", () => {
  const usual = learnedValues(known);
  expect(Object.keys(prefilled(fields, {}, usual))).toEqual(["persona"]);
  expect(prefilled(fields, { persona: "student" }, usual)).toEqual({});
  expect(prefilled(fields, { persona: "" }, usual)).toEqual({});
});
