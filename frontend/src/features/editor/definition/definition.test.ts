import { describe, expect, test } from "vitest";

import {
  addStep,
  duplicateStep,
  freeId,
  moveStep,
  rangeOf,
  readDefinition,
  removeStep,
  renameInput,
  renameStep,
  setAt,
  stepAt,
  stepText,
} from "./definition.ts";

const TEXT = `# Ours, do not touch
key: deck
name: Deck   # shown to people
description: >-
  Looks up sources for the statements of a text and adds them to it, then turns the text into slides and renders them
  as PDF.
steps:
  # First the page
  - id: scrape
    pack: web.scrape
    retry: {max_attempts: 3}  # the site is slow
    input:
      url: "\${{ inputs.url }}"
  - id: render
    pack: slides.render
    input:
      markdown: "\${{ steps.scrape.output.markdown }}"
      title: 'Deck of \${{steps.scrape.output.title | default("a page")}}'
`;

/** The lines that differ. */
function changes(before: string, after: string): { gone: string[]; come: string[] } {
  const [old, now] = [before.split("\n"), after.split("\n")];
  return { gone: old.filter((line) => !now.includes(line)), come: now.filter((line) => !old.includes(line)) };
}

describe("an edit changes its own lines alone", () => {
  test("a value", () => {
    expect(changes(TEXT, setAt(TEXT, ["name"], "Slides"))).toEqual({
      gone: ["name: Deck   # shown to people"],
      come: ["name: Slides # shown to people"],
    });
  });

  test("a reference keeps its quotes", () => {
    const after = setAt(TEXT, ["steps", 1, "input", "markdown"], "${{ inputs.text }}");
    expect(changes(TEXT, after).come).toEqual(['      markdown: "${{ inputs.text }}"']);
  });

  test("a new key stands in its usual place", () => {
    const after = setAt(TEXT, ["steps", 0, "timeout_seconds"], 30);
    expect(changes(TEXT, after)).toEqual({ gone: [], come: ["    timeout_seconds: 30"] });
    const version = setAt(TEXT, ["steps", 1, "version"], "1");
    expect(version.split("\n").indexOf('    version: "1"')).toBe(
      version.split("\n").indexOf("    pack: slides.render") + 1,
    );
  });

  test("a value in a list that is not there yet", () => {
    const after = setAt(TEXT, ["metadata", "accepts"], ["url"]);
    expect(readDefinition(after).value["metadata"]).toEqual({ accepts: ["url"] });
    expect(changes(TEXT, after).gone).toEqual([]);
  });

  test("what is taken away leaves nothing behind", () => {
    const after = setAt(TEXT, ["steps", 0, "retry", "max_attempts"], undefined);
    expect(readDefinition(after).steps[0]?.value["retry"]).toBeUndefined();
    expect(changes(TEXT, after).come).toEqual([]);
  });
});

describe("steps", () => {
  test("are moved with their comments", () => {
    const after = moveStep(TEXT, 0, 1);
    expect(readDefinition(after).steps.map(({ id }) => id)).toEqual(["render", "scrape"]);
    expect(after).toContain("  # First the page\n  - id: scrape\n");
    expect(after).toContain("# the site is slow");
    expect(readDefinition(moveStep(after, 1, 0)).value).toEqual(readDefinition(TEXT).value);
  });

  test("are copied under another id", () => {
    expect(readDefinition(duplicateStep(TEXT, 0)).steps.map(({ id }) => id)).toEqual(["scrape", "scrape_2", "render"]);
    expect(freeId("web.scrape", ["web_scrape"])).toBe("web_scrape_2");
    expect(freeId("9 lives", [])).toBe("lives");
  });

  test("are added and removed", () => {
    const one = addStep("name: x\nsteps: []\n", -1, { id: "a", pack: "p.a", input: {} });
    expect(one).toBe("name: x\nsteps:\n  - id: a\n    pack: p.a\n    input: {}\n");
    const two = setAt(one, ["steps", 0, "input", "text"], "${{ inputs.text }}");
    expect(two).toBe('name: x\nsteps:\n  - id: a\n    pack: p.a\n    input:\n      text: "${{ inputs.text }}"\n');
    expect(removeStep(two, 0)).toBe("name: x\nsteps: []\n");
  });

  test("take those who use them along when they are renamed", () => {
    const after = renameStep(TEXT, 0, "fetch");
    expect(readDefinition(after).steps[1]?.value["input"]).toEqual({
      markdown: "${{ steps.fetch.output.markdown }}",
      title: 'Deck of ${{steps.fetch.output.title | default("a page")}}',
    });
    expect(after).toContain("# First the page");
  });

  test("of an unknown kind are kept and marked", () => {
    const text = "name: x\nsteps:\n  - id: solve\n    agent: {use: mock}\n";
    expect(readDefinition(text).steps.map(({ plain }) => plain)).toEqual([false]);
    expect(stepText(text, 0)).toBe("id: solve\nagent: {use: mock}\n");
    expect(setAt(text, ["name"], "y")).toContain("agent: {use: mock}");
  });
});

test("an input takes along those who read it when it is renamed", () => {
  const text = `inputs:\n  type: object\n  required: [url]\n  properties:\n    # Where it lies\n    url: {type: string}\n${TEXT.slice(TEXT.indexOf("steps:"))}`;
  const after = renameInput(text, "url", "page");
  expect(after).toContain("  required: [page]\n  properties:\n    # Where it lies\n    page: {type: string}\n");
  expect(readDefinition(after).steps[0]?.value["input"]).toEqual({ url: "${{ inputs.page }}" });
});

test("a text that cannot be read says where, and stays as it is", () => {
  const broken = "name: x\nsteps: [\n";
  expect(readDefinition(broken).unreadable?.message).toMatch(/./);
  expect(setAt(broken, ["name"], "y")).toBe(broken);
  expect(readDefinition("- a\n").unreadable?.message).toContain("list of keys");
  expect(readDefinition("a: &x [1]\nb: *x\n").unreadable).not.toBeNull();
});

test("places in the text are found by path and the other way round", () => {
  const at = (path: (string | number)[]) => TEXT.slice(...rangeOf(TEXT, path));
  expect(at(["steps", "1", "input", "title"])).toContain("Deck of");
  expect(at(["steps", "0", "pack"])).toBe("web.scrape");
  expect(at(["steps", "0", "input", "nothing"])).toBe("input");
  expect(stepAt(TEXT, TEXT.indexOf("slides.render"))).toBe(1);
  expect(stepAt(TEXT, 3)).toBe(-1);
});

test("a definition nested deeper than can be read says so", () => {
  for (const text of ["[".repeat(20_000), `steps: ${"{a: ".repeat(20_000)}`, `${"- ".repeat(20_000)}x`]) {
    expect(readDefinition(text).unreadable?.message).toMatch(/./);
    expect(setAt(text, ["name"], "Tea")).toBe(text);
    expect(stepAt(text, 10)).toBe(-1);
    expect(rangeOf(text, ["steps", 0])).toHaveLength(2);
  }
});
