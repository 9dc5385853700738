import { expect, test } from "vitest";

import { changeableInputs } from "./changeableInputs.ts";

type Step = Parameters<typeof changeableInputs>[0]["steps"][number];

function step(key: string, state: Step["state"], ...paths: string[]): Step {
  const references = paths.map((sourcePath) => ({ sourceStep: null, sourcePath }));
  return { id: key, state, step: { key, references } };
}

const version = (schema: unknown) => ({ id: "v", inputSchema: schema });
const SCHEMA = {
  type: "object",
  properties: { text: {}, data: {}, "odd name": {}, tone: {} },
  required: ["text", "tone"],
  additionalProperties: false,
};

test("an input is offered unless a step that has succeeded read it", () => {
  const steps = [
    step("one", "SUCCEEDED", "data.rows[0]", '["odd name"].x', "text"),
    step("two", "FAILED", "tone", "text"),
  ];
  expect(changeableInputs({ version: version(SCHEMA), steps })).toEqual({
    type: "object",
    properties: { tone: {} },
    required: ["tone"],
    additionalProperties: false,
  });
});

test("what another step gave is no input", () => {
  const other = {
    ...step("one", "SUCCEEDED"),
    step: { key: "one", references: [{ sourceStep: "zero", sourcePath: "text" }] },
  };
  expect(Object.keys(changeableInputs({ version: version(SCHEMA), steps: [other] })?.properties ?? {})).toEqual([
    "text",
    "data",
    "odd name",
    "tone",
  ]);
});

test("nothing is offered when all were read, or there are none", () => {
  expect(
    changeableInputs({
      version: version({ type: "object", properties: { text: {} } }),
      steps: [step("one", "SUCCEEDED", "text")],
    }),
  ).toBeNull();
  expect(changeableInputs({ version: null, steps: [] })).toBeNull();
});
