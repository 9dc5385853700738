import { expect, test } from "vitest";

import { emptySentence, filterOf, runsSearch } from "./filter.ts";

test("the address becomes a filter, and what it does not know is left out", () => {
  const search = runsSearch({ view: "attention", state: "BROKEN", cause: "AGENT", pipeline: "sample", q: 12, other: "x" });
  expect(search).toMatchObject({ view: "attention", state: undefined, cause: "AGENT", pipeline: "sample", q: "12" });
  expect(filterOf(search)).toEqual({ needsAttention: true, causes: ["AGENT"], pipelines: ["sample"], text: "12" });
});

test("an empty address asks for everything", () => {
  expect(filterOf(runsSearch({}))).toEqual({});
  expect(emptySentence({})).toBe("There are no runs yet.");
  expect(emptySentence({ q: "x" })).toBe("No run fits these filters.");
});
