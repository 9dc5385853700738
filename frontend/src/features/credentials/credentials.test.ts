import { expect, it } from "vitest";

import { filledFields, freeFields, kindFor } from "./fields.ts";
import { credentialsSearch } from "./search.ts";

const KINDS = [
  {
    name: "github",
    description: "",
    freeFields: false,
    testable: true,
    fields: [{ name: "token", description: "", secret: true, required: true, multiline: false }],
  },
  { name: "openai", description: "", freeFields: false, testable: true, fields: [] },
  { name: "generic", description: "", freeFields: true, testable: false, fields: [] },
];

it.each([
  ["github", "github"],
  ["github-work", "github"],
  ["weather", "generic"],
  [undefined, "github"],
])("takes %s for a credential of the kind %s", (key, kind) => {
  expect(kindFor(KINDS, key)).toBe(kind);
});

it("sends what was filled in and nothing else", () => {
  expect(KINDS[0] === undefined ? null : filledFields(KINDS[0], { token: "", other: "x" })).toEqual({});
  expect(KINDS[0] === undefined ? null : filledFields(KINDS[0], { token: "abc" })).toEqual({ token: "abc" });
  expect(
    freeFields([
      { name: " user ", value: "ada" },
      { name: "", value: "lost" },
    ]),
  ).toEqual({ user: "ada" });
});

it.each([["//evil.example"], ["https://evil.example"], ["/\\evil.example"], ["javascript:alert(1)"], [""]])(
  "leads back to no address like %s",
  (given) => {
    expect(credentialsSearch({ return: given }).return).toBeUndefined();
  },
);

it("leads back to a run", () => {
  expect(credentialsSearch({ need: "github", return: "/runs/run_1?step=a" })).toMatchObject({
    need: "github",
    return: "/runs/run_1?step=a",
  });
});
