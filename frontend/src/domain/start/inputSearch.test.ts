import { expect, test } from "vitest";

import { searchFrom, textsFrom, withTexts } from "./inputSearch.ts";

test("only parameters named after an input fill a field", () => {
  expect(textsFrom({ "input.title": "Tea", seconds: "abc", url: "http://x", utm_source: "mail" })).toEqual({
    title: "Tea",
  });
});

test("what is typed replaces the parameters of inputs and leaves all others alone", () => {
  const search = { "input.title": "Tea", "input.text": "long", seconds: "abc", utm_source: "mail" };
  expect(withTexts(search, { title: "Milk" })).toEqual({ "input.title": "Milk", seconds: "abc", utm_source: "mail" });
});

test("an emptied field leaves the address", () => {
  expect(searchFrom({ title: "" })).toEqual({ "input.title": undefined });
});
