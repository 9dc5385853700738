import { expect, test } from "vitest";

import { readDefinition } from "./definition.ts";
import { BLANK, proposedText } from "./proposed.ts";

test("a proposed pipeline has its name and one step for each pack, in order, each with another id", () => {
  const { value, unreadable } = readDefinition(proposedText("flight: book", "web.scrape,slides.render,pdf.render"));
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
  expect(proposedText("", "")).toBe(BLANK);
  expect(readDefinition(proposedText("a", ",")).value).toEqual({ name: "a", steps: [] });
});
