import { expect, test } from "vitest";

import { matches } from "./matches.ts";

test.each([
  ["Run again…", "run ag", true],
  ["Run again…", "again run", true],
  ["Run again…", "gain", false],
  ["Copy the link", "", true],
  ["web.scrape", "scr", true],
])("%s, %s: %s", (text, typed, found) => {
  expect(matches(text, typed)).toBe(found);
});
