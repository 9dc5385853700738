// @vitest-environment happy-dom
import { beforeEach, expect, test } from "vitest";

import { emptySentence, filterOf, filtersOf, runsSearch } from "./filter.ts";
import { deleteView, isFree, saveView, savedViews } from "./views.ts";

const NOW = Date.parse("2026-03-01T12:00:30Z");

beforeEach(() => localStorage.clear());

test("the address becomes a filter, and what it does not know is left out", () => {
  const search = runsSearch({
    view: "attention",
    status: "BROKEN",
    cause: "AGENT",
    pipeline: "sample",
    actor: "call_1",
    since: "24h",
    q: 12,
    other: "x",
  });
  expect(search).toMatchObject({ view: "attention", status: undefined, cause: "AGENT", pipeline: "sample", q: "12" });
  expect(filterOf(search, NOW)).toEqual({
    needsAttention: true,
    causes: ["AGENT"],
    pipelines: ["sample"],
    callers: ["call_1"],
    createdFrom: "2026-02-28T12:00:00.000Z",
    text: "12",
  });
});

test("an empty address asks for everything", () => {
  expect(filterOf(runsSearch({}), NOW)).toEqual({});
  expect(emptySentence({})).toBe("There are no runs yet.");
  expect(emptySentence({ q: "x" })).toBe("No run matches these filters.");
  expect(emptySentence({ status: "FAILED" })).toBe("No run is failed.");
});

test("a view of one's own is kept, replaced and dropped", () => {
  saveView({ name: "Broken decks", filters: filtersOf(runsSearch({ status: "FAILED", q: "deck", view: "x" })) });
  saveView({ name: "Mine", filters: { actor: "call_1" } });
  saveView({ name: "Broken decks", filters: { status: "CANCELLED" } });
  expect(savedViews()).toEqual([
    { name: "Mine", filters: { actor: "call_1" } },
    { name: "Broken decks", filters: { status: "CANCELLED" } },
  ]);
  deleteView("Mine");
  expect(savedViews().map(({ name }) => name)).toEqual(["Broken decks"]);
});

test("names that come with the page are taken, and rubbish in the browser's store is no view", () => {
  expect([isFree("running"), isFree("Needs Attention"), isFree(" "), isFree("Mine")]).toEqual([
    false,
    false,
    false,
    true,
  ]);
  localStorage.setItem("packline.runs.views", '{"a": 1}');
  expect(savedViews()).toEqual([]);
  localStorage.setItem("packline.runs.views", "[");
  expect(savedViews()).toEqual([]);
});
