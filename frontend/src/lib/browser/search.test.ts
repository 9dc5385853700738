import { defaultStringifySearch } from "@tanstack/react-router";
import { expect, test } from "vitest";

import { numberOf, parseSearch, textOf } from "./search.ts";

function read(search: string): string | undefined {
  const found: Record<string, unknown> = parseSearch(search);
  return textOf(found["q"]);
}

test("a text of the address is read as it was written", () => {
  for (const text of ["1e3", "12", "007", "1.0", "true", "null", "tea", "[1", "99999999999999999999"]) {
    expect(read(`?q=${encodeURIComponent(text)}`)).toBe(text);
    expect(read(defaultStringifySearch({ q: text }))).toBe(text);
  }
  for (const text of ['"tea"', "{}", "[1]"]) expect(read(defaultStringifySearch({ q: text }))).toBe(text);
});

test("a number of the address is one that counts", () => {
  expect(numberOf("3")).toBe(3);
  for (const text of ["1e3", "0", "-1", "1.5", "x", ""]) expect(numberOf(text)).toBeUndefined();
});
