import { expect, test } from "vitest";

import { readDefinition } from "./definition.ts";
import { BLANK, proposedText } from "./proposed.ts";

test("a proposed pipeline has its name and one step for each pack, in order, each with another id", () => {
  const { value, unreadable } = readDefinition(
    proposedText({ name: "flight: book", packs: "web.scrape,slides.render,pdf.render" }),
  );
  expect(unreadable).toBeNull();
  expect(value).toEqual({
    name: "flight: book",
    steps: [
      { id: "scrape", pack: "web.scrape", input: {} },
      { id: "render", pack: "slides.render", input: {} },
      { id: expect.not.stringMatching(/^render$/) as string, pack: "pdf.render", input: {} },
    ],
  });
});

test("a proposal without packs starts blank but for its name", () => {
  expect(proposedText({})).toBe(BLANK);
  expect(readDefinition(proposedText({ name: "a", packs: "," })).value).toEqual({ name: "a", steps: [] });
});

test("a proposed pack is a step that gets the inputs, which the pipeline declares", () => {
  const { value } = readDefinition(
    proposedText({ name: "Post it", packs: "linkedin.publish", inputs: "text:string,tries?:integer,more:" }),
  );
  expect(value).toEqual({
    name: "Post it",
    inputs: {
      type: "object",
      properties: { text: { type: "string" }, tries: { type: "integer" }, more: {} },
      required: ["text", "more"],
    },
    steps: [
      {
        id: "publish",
        pack: "linkedin.publish",
        input: { text: "${{ inputs.text }}", tries: "${{ inputs.tries }}", more: "${{ inputs.more }}" },
      },
    ],
  });
});

test("how the first of several packs uses the inputs is left open", () => {
  const { steps } = readDefinition(proposedText({ packs: "web.scrape,pdf.render", inputs: "url:string" }));
  expect(steps.map(({ value }) => value["input"])).toEqual([{}, {}]);
});
