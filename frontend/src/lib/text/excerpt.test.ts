import { expect, test } from "vitest";

import { excerpt, startOf } from "./excerpt.ts";

test("a text is cut after a whole character", () => {
  expect(startOf("tea 🍵", 5)).toBe("tea ");
  expect(startOf("tea 🍵", 6)).toBe("tea 🍵");
  expect(startOf("tea", 2)).toBe("te");
});

test("an excerpt shows that there is more", () => {
  expect(excerpt("water my plants", 5)).toBe("water…");
  expect(excerpt("water", 5)).toBe("water");
});
