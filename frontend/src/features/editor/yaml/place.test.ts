import { describe, expect, it } from "vitest";

import { placeAt } from "./place.ts";

/** The place of `^` in a text. */
function at(marked: string) {
  const found = placeAt(marked.replace("^", ""), marked.indexOf("^"));
  return found === null ? null : [found.path.join("."), found.key];
}

describe("the place in a text that is being typed", () => {
  it.each([
    ["^", "", null],
    ["na^", "", null],
    ["key: greet\nname: ^", "", "name"],
    ["steps:\n  - ^", "steps.0", null],
    ["steps:\n- i^", "steps.0", null],
    ["steps:\n  - id: say\n    pack: te^", "steps.0", "pack"],
    ["steps:\n  - id: a\n    input:\n      text: x\n  # note\n\n  - id: b\n    ^", "steps.1", null],
    ["steps:\n  - id: a\n    input:\n      ^", "steps.0.input", null],
    ["steps:\n  - id: a\n    input: # of it\n      deep:\n        on^", "steps.0.input.deep", null],
    ["steps:\n  - id: a\n    retry:\n      max_attempts: 2\n    ver^", "steps.0", null],
    [
      "steps:\n  - id: a\n    input:\n      list:\n        - x: 1\n        - x: 2\n          y^",
      "steps.0.input.list.1",
      null,
    ],
    ["inputs:\n  properties:\n    who:\n      type: ^\nsteps: []", "inputs.properties.who", "type"],
    ['steps:\n  - id: "unclosed\n    pack: ^', "steps.0", "pack"],
    ['"steps":\n  - pack: ^', "steps.0", "pack"],
    ["steps:\n  - {id: a, ^", "steps.0", null],
    ["steps:\n  - id: a\n    input: {deck:{ti^}}", "steps.0.input.deck", null],
    ["steps:\n  - id: a\n    input: {^", "steps.0.input", null],
    ["steps:\n  - id: a\n    input: { th^ }", "steps.0.input", null],
    ["steps:\n  - id: a\n    input: {theme:^}", "steps.0.input", "theme"],
    ["steps:\n  - id: a\n    input: {theme: ni^", "steps.0.input", "theme"],
    ["steps: [{id: a}, {id: 'it''s, b', pack: ^", "steps.1", "pack"],
    ['steps:\n  - id: a\n    input: {url: http://x/#y, "deck": {title: "{a, \\"b", ^', "steps.0.input.deck", null],
    [
      'steps:\n  - id: a\n    input: {deck: "${{ steps.b.output }}", pages: [{kind: no}, {ki^',
      "steps.0.input.pages.1",
      null,
    ],
    ["input: {\n  theme: ^", "input", "theme"],
    ["steps:\n  - id: a\n    input: {\n      ^", "steps.0.input", null],
    ["steps:\n  - id: a\n    input: {\n      notes: true,\n      th^\n    }", "steps.0.input", null],
    [
      "steps:\n  - id: a\n    input: {\n\n      deck: {\n        title: x, # of it\n        ^",
      "steps.0.input.deck",
      null,
    ],
    [
      "steps:\n  - id: a\n    input: {\n      deck: {title: x},\n      # note\n      theme: ^",
      "steps.0.input",
      "theme",
    ],
    ["steps:\n  - id: a\n    input: {text: over\n        lines, th^", "steps.0.input", null],
    ["steps: [\n  {id: a},\n  {\n    id: b,\n    pack: ^", "steps.1", "pack"],
    ["steps:\n  [\n  {id: a},\n  {^", "steps.1", null],
    ["steps:\n  - {id: a}\n  - {id: b,\n     pack: ^", "steps.1", "pack"],
    ['{\n"steps": [\n{ "pack": ^', "steps.0", "pack"],
    ["steps:\n  - id: a\n    input: {\n      deck: x\n  - id: b\n    pack: ^", "steps.1", "pack"],
  ])("%j", (text, path, key) => {
    expect(at(text)).toEqual([path, key]);
  });

  it.each([
    ["steps:\n  - id: a\n    input:\n      text: |\n        Dear ^"],
    ["steps:\n  - {id: a}^"],
    ['steps:\n  - {id: "a^'],
    ["steps:\n  - {id: a # no^"],
    ["steps:\n  - {id: [a, ^"],
    ["steps:\n  - {id: a], ^"],
    ["input: {\n  theme: night\n  ^"],
    ["input: {\n  theme: night\n  # not^"],
    ["input: {\n  theme: 'ni\n  ^"],
    ["input: {\n  theme: night\n}\n  no^"],
    ["steps:\n  - id: a\n    input:\n      text: |\n        list: {\n          a^"],
    ["steps: [\n  {id: a},\n  ^"],
    ['name: "He^'],
    ["name: x # no^"],
    ["steps: []\n  id: ^"],
    ["- ^"],
  ])("is unknown in %j", (text) => {
    expect(at(text)).toBeNull();
  });
});
