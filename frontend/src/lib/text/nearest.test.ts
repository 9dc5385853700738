import { expect, test } from "vitest";

import { nearest } from "./nearest.ts";

test.each([
  ["topik", "topic"],
  ["Topic", "topic"],
  ["soruce_url", "source_url"],
  ["angel", "angle"],
  ["colour", null],
  ["x", null],
])("%s is taken for %s", (given, meant) => {
  expect(nearest(given, ["topic", "source_url", "angle"])).toBe(meant);
});
