import { describe, expect, test } from "vitest";

import { fitting, suggestionsFor } from "./suggestions.ts";
import { mapReferences, referencesIn, resolved, spansOf, typedAt } from "./templates.ts";

test("references are distinguished from texts that only look like one", () => {
  expect(referencesIn("a ${{ inputs.url }} b").map(({ path }) => path)).toEqual([["inputs", "url"]]);
  expect(referencesIn("$${{ inputs.url }}")).toEqual([]);
  expect(referencesIn("${{ inputs }} ${{ steps.a }} ${{ other.b }}")).toEqual([]);
  expect(referencesIn('${{ steps.a.output["odd }} name"][2]? }}')[0]).toMatchObject({
    path: ["steps", "a", "output", "odd }} name", 2],
    optional: true,
  });
  expect(referencesIn('${{ inputs.a | default({"b": {}}) }}')[0]).toMatchObject({
    path: ["inputs", "a"],
    fallback: { value: { b: {} } },
  });
  expect(spansOf("${{ inputs.a").map(({ closed }) => closed)).toEqual([false]);
});

test("what is being typed is found at the caret alone", () => {
  expect(typedAt("x ${{ steps.fe", 14)).toEqual({ from: 2, to: 14, typed: "steps.fe" });
  expect(typedAt("${{ inputs.url }}", 10)).toEqual({ from: 0, to: 17, typed: "inputs" });
  expect(typedAt("x ${{ inputs.url }}", 1)).toBeNull();
  expect(typedAt("${{ inputs.url | def", 20)).toBeNull();
});

function map(text: string): string {
  return mapReferences(text, (path) => (path[1] === "a" ? ["steps", "b", ...path.slice(2)] : path));
}

test("a mapped path leaves spaces, marks and defaults as they are", () => {
  expect(map('${{steps.a.output.x?}} and ${{ steps.a.output["y z"] | default("steps.a") }}')).toBe(
    '${{steps.b.output.x?}} and ${{ steps.b.output["y z"] | default("steps.a") }}',
  );
  expect(map("${{ steps.ab.output.x }}")).toBe("${{ steps.ab.output.x }}");
});

describe("an input is filled in from an earlier run", () => {
  const known = { inputs: { n: 3, url: "u" }, outputs: { fetch: { text: "t", list: [{ a: 1 }] } } };

  test("as the runner does it", () => {
    const input = {
      n: "${{ inputs.n }}",
      text: "<${{ steps.fetch.output.text }}>",
      deep: ["${{ steps.fetch.output.list[0] }}"],
      gone: "${{ inputs.none }}",
      or: "${{ inputs.none | default(7) }}",
      plain: "$${{ x }}",
    };
    expect(resolved(input, known)).toEqual({
      value: { n: 3, text: "<t>", deep: [{ a: 1 }], or: 7, plain: "${{ x }}" },
      missing: [],
    });
  });

  test("and what that run did not give is named", () => {
    expect(resolved("${{ steps.other.output.x }}", known)).toEqual({
      value: null,
      missing: ["${{ steps.other.output.x }}"],
    });
  });
});

test("a step is offered what stands before it", () => {
  const schema = {
    type: "object",
    properties: {
      text: { type: "string", description: "The page." },
      pages: { type: "array", items: { $ref: "#/$defs/Page" } },
    },
    $defs: { Page: { type: "object", properties: { title: { type: "string" } } } },
  };
  const steps = ["fetch", "later"].map((id) => ({ id, pack: "web.fetch", value: {}, plain: true }));
  const suggestions = suggestionsFor(
    1,
    steps,
    { properties: { url: { type: "string" } } },
    new Map([["web.fetch", schema]]),
    {
      inputs: { url: "https://example.org" },
      outputs: { fetch: { text: "Hello" } },
    },
  );
  expect(suggestions.map(({ path }) => path)).toEqual([
    "steps.fetch.output.text",
    "steps.fetch.output.pages",
    "steps.fetch.output.pages[0].title",
    "inputs.url",
  ]);
  expect(suggestions[0]).toMatchObject({
    text: "${{ steps.fetch.output.text }}",
    type: "text",
    example: "Hello",
    description: "The page.",
  });
  expect(fitting(suggestions, "ti").map(({ path }) => path)).toEqual(["steps.fetch.output.pages[0].title"]);
  expect(fitting(suggestions, "inputs").map(({ path }) => path)).toEqual(["inputs.url"]);
});

test("what only looks like a quoted name is no reference", () => {
  expect(referencesIn(String.raw`${"${{"} inputs["\q"] }}`)).toEqual([]);
  expect(referencesIn(String.raw`${"${{"} inputs["a\"b"] }}`).map(({ path }) => path)).toEqual([["inputs", 'a"b']]);
});
