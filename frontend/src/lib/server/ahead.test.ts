// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";

import { askAhead, askedAhead } from "./ahead.ts";

afterEach(() => vi.unstubAllGlobals());

function body(operationName: string, variables?: object): string {
  return JSON.stringify({ operationName, query: "query", variables });
}

test("an answer goes to the first who asks the same, and to nobody else", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response("one")),
  );
  askAhead("RunPage", "query", { id: "run_1" });
  askAhead("Viewer", "query", {});
  expect(askedAhead(body("RunPage", { id: "run_2" }))).toBeUndefined();
  const answer = await askedAhead(body("RunPage", { id: "run_1" }));
  expect(await answer?.text()).toBe("one");
  expect(askedAhead(body("RunPage", { id: "run_1" }))).toBeUndefined();
  expect(askedAhead(body("Viewer"))).toBeDefined();
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("that it failed is told to who takes it", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => Promise.reject(new TypeError("away"))),
  );
  askAhead("Viewer", "query", {});
  await expect(askedAhead(body("Viewer"))).rejects.toThrow("away");
});
