// Files that one process tests share a document and its storage: each file begins with both empty.

import { beforeAll } from "vitest";

beforeAll(() => {
  if (typeof document === "undefined") return;
  document.title = "";
  document.body.replaceChildren();
  localStorage.clear();
  sessionStorage.clear();
});
