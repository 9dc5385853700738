import { expect, test } from "vitest";

import { runSearch, zoomExtent, zoomText } from "./search.ts";

test("a zoom is kept in the address, to the millisecond, and around what was chosen", () => {
  expect(zoomText({ from: 1_000_200.4, to: 1_000_900.2 }, 1_000_000)).toBe("200-901");
  expect(zoomExtent("200-901", 1_000_000)).toEqual({ from: 1_000_200, to: 1_000_901 });
  expect(zoomExtent(zoomText({ from: 998, to: 1001 }, 1000), 1000)).toEqual({ from: 998, to: 1001 });
});

test("a log's line, text and level are kept in the address", () => {
  expect(runSearch({ line: "12", find: 404, level: "error" })).toMatchObject({ line: 12, find: "404", level: "error" });
  expect(runSearch({ level: "debug" }).level).toBeUndefined();
});

test("what is no zoom or no fold is left out", () => {
  for (const zoom of ["", "5", "9-3", "3-3", "a-b", "1-99999999999999"]) {
    expect(runSearch({ zoom }).zoom).toBeUndefined();
  }
  expect(runSearch({ zoom: "3-9", fold: "on" })).toMatchObject({ zoom: "3-9", fold: "on" });
  expect(runSearch({ fold: "yes" }).fold).toBeUndefined();
});

test("the address opens the dialog that resumes a run, and no other", () => {
  expect(runSearch({ ask: "resume" }).ask).toBe("resume");
  for (const ask of ["cancel", "", 1, null]) expect(runSearch({ ask }).ask).toBeUndefined();
});
