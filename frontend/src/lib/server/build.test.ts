// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import { isOutdated } from "./build.ts";

const RUNNING = "index-a1.js prefetch-b2.js";

function page(...scripts: string[]): string {
  return `<head>${scripts.map((src) => `<script type="module" src="${src}"></script>`).join("")}</head>`;
}

test.each([
  ["the same build", page("./assets/index-a1.js", "./assets/prefetch-b2.js"), false],
  ["the same build in another order", page("/sub/assets/prefetch-b2.js", "/sub/assets/index-a1.js"), false],
  ["another build", page("./assets/index-c3.js", "./assets/prefetch-b2.js"), true],
  ["a page without scripts, as of a server without a build", "<p>Run make ui.</p>", false],
])("%s", async (_what, body, outdated) => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(body)));
  expect(await isOutdated(RUNNING)).toBe(outdated);
});

test("a server that does not answer, or fails, says nothing about its build", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("Failed to fetch")));
  expect(await isOutdated(RUNNING)).toBe(false);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(page("./assets/index-c3.js"), { status: 502 })));
  expect(await isOutdated(RUNNING)).toBe(false);
});
