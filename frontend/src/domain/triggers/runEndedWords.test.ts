import { expect, test } from "vitest";

import { runEndedWords } from "./runEndedWords.ts";

const named = (...names: string[]) => names.map((name) => ({ name }));

test.each([
  [["FAILED"], null, "OWNER", "When a run fails"],
  [["CANCELLED", "FAILED"], named("Deck"), "OWNER", "When a run of Deck fails or is cancelled"],
  [["FAILED", "SUCCEEDED", "CANCELLED"], named("Deck", "Blog"), "ALL", "When any caller's run of Deck or Blog ends"],
  [["SUCCEEDED"], named("a", "b", "c"), "OWNER", "When a run of one of 3 pipelines succeeds"],
  [["FAILED"], [], "OWNER", "When a run of a deleted pipeline fails"],
] as const)("%s of %o by %s: %s", (states, pipelines, runsOf, words) => {
  expect(runEndedWords({ states, pipelines, runsOf })).toBe(words);
});
