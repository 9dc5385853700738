import { expect, it } from "vitest";

import { isText, shownAs, sortOf } from "./mediaTypes.ts";
import { typeWord } from "./typeWord.ts";

it.each([
  ["image/png", "picture"],
  ["image/svg+xml", "picture"],
  ["image/tiff", "other"],
  ["application/pdf", "pdf"],
  ["text/html; charset=utf-8", "html"],
  ["text/markdown", "markdown"],
  ["application/ld+json", "json"],
  ["text/x-diff", "diff"],
  ["text/tab-separated-values", "table"],
  ["application/x-subrip", "text"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "other"],
  ["application/zip", "other"],
])("shows %s as %s", (mediaType, shown) => {
  expect(shownAs(mediaType)).toBe(shown);
});

it("sorts also what it cannot show", () => {
  expect(sortOf("image/tiff")).toBe("picture");
  expect(sortOf("application/vnd.openxmlformats-officedocument.presentationml.presentation")).toBe("document");
});

it("knows what can be compared line by line", () => {
  const texts = ["text/csv", "text/plain; charset=utf-8", "application/ld+json", "application/toml", "image/svg+xml"];
  expect(texts.every(isText)).toBe(true);
  expect(["image/png", "application/pdf", "application/zip"].some(isText)).toBe(false);
});

it.each([
  ["image/*", "Pictures"],
  ["image/svg+xml", "SVG picture"],
  ["text/csv; header=present", "CSV"],
  ["application/x-strange", "application/x-strange"],
])("calls %s %s", (mediaType, word) => {
  expect(typeWord(mediaType)).toBe(word);
});
