import { describe, expect, test } from "vitest";

import {
  choicesOf,
  contextOf,
  fieldWords,
  fitWords,
  type Gap,
  gapInput,
  type RouteAnswer,
  suggestedFor,
  templateOf,
  textsOfSuggested,
} from "./routing.ts";

const ANSWER: RouteAnswer = {
  recommendation: {
    kind: "PIPELINE",
    id: "builtin.doc-deck",
    suggestedInputs: { artifact: "art_1", max_slides: 12, theme: "dark" },
    inputSources: [
      { name: "artifact", source: "CONTEXT" },
      { name: "max_slides", source: "REQUEST" },
      { name: "theme", source: "DEFAULTS" },
    ],
    missingInputs: [],
    why: "It takes a PDF.",
    confidence: 0.81,
  },
  alternatives: ["doc.parse", "slides.render", "blog.publish"].map((id) => ({
    kind: "PACK",
    id,
    suggestedInputs: { artifact: "art_1" },
    inputSources: [{ name: "artifact", source: "CONTEXT" }],
    missingInputs: ["text"],
    why: "",
    confidence: 0.1,
  })),
  gapWarnings: [],
  reasoning: "",
  decidedBy: "lexical",
};
const NOTHING: RouteAnswer = {
  ...ANSWER,
  recommendation: { ...ANSWER.recommendation, kind: "NONE", id: null, suggestedInputs: {}, inputSources: [] },
};
const OTHER = {
  type: "object",
  required: ["artifact", "text"],
  properties: {
    artifact: { type: "string" },
    text: { type: "string" },
    max_slides: { type: "integer", maximum: 5 },
    theme: { type: "string" },
  },
};

describe("answers", () => {
  test("are three at most, the best first, and those that come nearest when nothing fits", () => {
    expect(choicesOf(ANSWER).map(({ id }) => id)).toEqual(["builtin.doc-deck", "doc.parse", "slides.render"]);
    expect(choicesOf(NOTHING).map(({ id }) => id)).toEqual(["doc.parse", "slides.render", "blog.publish"]);
    expect(templateOf(ANSWER)).toBe("builtin.doc-deck");
    expect(templateOf(NOTHING)).toBeUndefined();
  });

  test("the best is filled in as route said", () => {
    const [best] = choicesOf(ANSWER);
    expect(best === undefined ? null : suggestedFor(best)).toEqual({
      artifact: { value: "art_1", source: "CONTEXT" },
      max_slides: { value: 12, source: "REQUEST" },
      theme: { value: "dark", source: "DEFAULTS" },
    });
  });

  test("leave what is usual to the form", () => {
    const [best] = choicesOf(ANSWER);
    expect(best === undefined ? null : textsOfSuggested(OTHER, suggestedFor(best))).toEqual({
      artifact: "art_1",
      max_slides: "12",
    });
  });

  test("another is filled in as route said for it", () => {
    const other = choicesOf(ANSWER)[1];
    expect(other === undefined ? null : suggestedFor(other)).toEqual({
      artifact: { value: "art_1", source: "CONTEXT" },
    });
  });

  test("say how sure they are", () => {
    expect(fitWords(0.81)).toBe("fits · 81% sure");
    expect(fitWords(0.4)).toBe("may fit · 40% sure");
  });
});

test("files are handed over as route reads them", () => {
  expect(contextOf([])).toBeNull();
  expect(contextOf([{ id: "art_1", name: "a.pdf", mediaType: "application/pdf" }])).toEqual({
    files: [{ id: "art_1", name: "a.pdf", media_type: "application/pdf" }],
  });
});

test("a proposed pack tells its fields in words", () => {
  expect(fieldWords(OTHER)).toEqual([
    "artifact (string)",
    "text (string)",
    "max_slides (integer, optional)",
    "theme (string, optional)",
  ]);
  expect(fieldWords({ type: "object" })).toEqual([]);
});

test("a gap is sent without the type names of the answer", () => {
  const gap: Gap = {
    missingCapability: "Sing",
    whyMissing: "Nothing sings.",
    proposal: {
      action: "PROPOSE_PACK",
      name: "song.sing",
      summary: "Sings.",
      packs: [],
      inputSchema: {},
      outputSchema: {},
      integrationPattern: "A pack.",
      whyUseful: "Songs.",
    },
  };
  const cached = { __typename: "GapWarning", ...gap, proposal: { __typename: "Proposal", ...gap.proposal } };
  expect(gapInput(cached)).toEqual(gap);
});
