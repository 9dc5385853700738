import { expect, test } from "vitest";

import { askPlace } from "./askPlace.ts";

test("a request is in the address; a long one is whole in the history", () => {
  expect(askPlace("slides from a PDF")).toEqual({ search: { ask: "slides from a PDF" }, state: {} });
  const long = "word ".repeat(1000);
  expect(askPlace(long)).toEqual({ search: {}, state: { ask: long } });
  expect(askPlace("")).toEqual({ search: {}, state: {} });
});
