import { expect, test } from "vitest";
import { localPath } from "./search";

test.each(["/runs/run_1", "/runs?state=failed"])("%j is a path of this page", (path) => {
  expect(localPath(path)).toBe(path);
});

test.each([
  "//elsewhere.example",
  "/\\elsewhere.example",
  "/\t/elsewhere.example",
  "\n//elsewhere.example",
  "https://elsewhere.example",
  "javascript:alert(1)",
  "",
])("%j leads elsewhere", (path) => {
  expect(localPath(path)).toBeUndefined();
});
