import { describe, expect, it } from "vitest";

import type { Schema } from "../../../domain/start/schemaForm.ts";
import { readDefinition } from "../definition/definition.ts";
import { optionsAt } from "./completions.ts";

const SCHEMA: Schema = {
  properties: {
    key: { type: "string", description: "Name in URLs." },
    name: { type: "string" },
    inputs: { type: "object", properties: { properties: { type: "object" } } },
    steps: {
      type: "array",
      items: { anyOf: [{ $ref: "#/definitions/pack_step" }, { $ref: "#/definitions/agent_step" }] },
    },
  },
  required: ["name", "steps"],
  $defs: {
    pack_step: {
      type: "object",
      properties: { id: { type: "string" }, pack: { type: "string" }, version: {}, input: { type: "object" } },
      required: ["id", "pack"],
    },
    agent_step: {
      type: "object",
      properties: { id: { type: "string" }, agent: { $ref: "#/definitions/agent" } },
      required: ["id", "agent"],
    },
    agent: { type: "object", properties: { prompt: { type: "string" } } },
  },
};

const PACKS = new Map([
  [
    "slides.render",
    {
      installedVersions: ["2.1.0", "2.0.0", "1.4.0"],
      inputSchema: {
        type: "object",
        required: ["deck"],
        properties: {
          deck: { type: "object", properties: { title: { type: "string" } } },
          theme: { $ref: "#/$defs/Theme", default: "plain" },
          notes: { type: "boolean" },
          pages: {
            type: "array",
            items: { type: "object", properties: { kind: { enum: ["no", "two words", "a: b"] } } },
          },
        },
        $defs: { Theme: { enum: ["plain", "night"] } },
      },
    },
  ],
]);

/** What is offered at `^`, as it is written; the definition is what the text without the line of `^` says. */
async function offered(marked: string, readable = marked.replace(/\n[^\n]*\^[^\n]*/, "")) {
  const at = marked.indexOf("^");
  const found = await optionsAt(marked.replace("^", ""), at, {
    definition: readDefinition(readable.replace("^", "")),
    packs: PACKS,
    packNames: () => Promise.resolve([{ name: "slides.render", version: "2.1.0", description: "Slides." }]),
    schema: () => Promise.resolve(SCHEMA),
  });
  return found?.options.map(({ text }) => text) ?? null;
}

const STEP = "name: Deck\nsteps:\n  - id: a\n    pack: slides.render\n";

describe("what the YAML offers", () => {
  it("keys that a mapping does not have yet, ready for their value", async () => {
    expect(await offered("name: Deck\n^")).toEqual(["key: ", "inputs:\n  ", "steps:\n  - "]);
    expect(await offered(`${STEP}    ^`)).toEqual(["version: ", "input:\n      "]);
    expect(await offered("name: x\nsteps:\n  - id: a\n    ^")).toEqual([
      "pack: ",
      "version: ",
      "input:\n      ",
      "agent:\n      ",
    ]);
    expect(await offered("steps:\n  - id: a\n    agent:\n      ^")).toEqual(["prompt: "]);
  });

  it("the inputs of a step's pack, at any depth", async () => {
    expect(await offered(`${STEP}    input:\n      notes: true\n      ^`)).toEqual([
      "deck:\n        ",
      "theme: ",
      "pages:\n        - ",
    ]);
    expect(await offered(`${STEP}    input:\n      deck:\n        ^`)).toEqual(["title: "]);
    expect(await offered(`${STEP}    input:\n      pages:\n        - k^`)).toEqual(["kind: "]);
  });

  it("the same in braces on one line, closed or not", async () => {
    expect(await offered(`${STEP}    input: {^`)).toEqual(["deck: ", "theme: ", "notes: ", "pages: "]);
    expect(await offered(`${STEP}    input: {theme: night, n^}`)).toEqual(["deck: ", "notes: ", "pages: "]);
    expect(await offered(`${STEP}    input: {theme: ^`)).toEqual(["plain", "night"]);
    expect(await offered(`${STEP}    input: {notes:^}`)).toEqual([" true", " false"]);
    expect(await offered(`${STEP}    input: {pages: [{kind: ^`)).toEqual(['"no"', "two words", '"a: b"']);
    expect(await offered("steps:\n  - {id: a, pack: ^}")).toEqual(["slides.render"]);
  });

  it("the same in braces that begin on an earlier line", async () => {
    expect(await offered(`${STEP}    input: {\n      theme: night,\n      ^\n    }`)).toEqual([
      "deck: ",
      "notes: ",
      "pages: ",
    ]);
    expect(await offered(`${STEP}    input: {\n      pages: [\n        {kind: ^}\n      ]\n    }`)).toEqual([
      '"no"',
      "two words",
      '"a: b"',
    ]);
    expect(await offered("steps: [\n  {id: a, pack: slides.render},\n  {id: b,\n   pack: ^}\n]")).toEqual([
      "slides.render",
    ]);
  });

  it("packs, their versions and the values that a schema lists, quoted where YAML needs it", async () => {
    expect(await offered("steps:\n  - id: a\n    pack:^")).toEqual([" slides.render"]);
    expect(await offered(`${STEP}    version: ^`)).toEqual(['"2"', '"1"']);
    expect(await offered(`${STEP}    input:\n      theme: ^`)).toEqual(["plain", "night"]);
    expect(await offered(`${STEP}    input:\n      notes: ^`)).toEqual(["true", "false"]);
    expect(await offered(`${STEP}    input:\n      pages:\n        - kind: ^`)).toEqual([
      '"no"',
      "two words",
      '"a: b"',
    ]);
    expect(await offered("inputs:\n  properties:\n    who:\n      type: ^")).toContain("integer");
  });

  it("nothing in free text, and for a pack nobody knows", async () => {
    expect(await offered("name: D^")).toBeNull();
    expect(await offered("na^ me: x")).toBeNull();
    expect(await offered(`${STEP}    input: {n^ theme: night}`)).toBeNull();
    expect(await offered("name: x\nsteps:\n  - id: a\n    pack: no.such\n    input:\n      ^")).toBeNull();
    expect(await offered(`${STEP}    input:\n      deck: |\n        ti^`)).toBeNull();
  });
});
