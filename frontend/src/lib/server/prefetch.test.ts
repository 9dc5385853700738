// @vitest-environment happy-dom
import { expect, test, vi } from "vitest";

import { prefetch, takePrefetched } from "./prefetch.ts";

function body(operationName: string, variables?: object): string {
  return JSON.stringify({ operationName, query: "query", variables });
}

test("an answer goes to the first who asks the same, and to nobody else", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response("one")),
  );
  prefetch("RunPage", "query", { id: "run_1" });
  prefetch("Viewer", "query", {});
  expect(takePrefetched(body("RunPage", { id: "run_2" }))).toBeUndefined();
  const answer = await takePrefetched(body("RunPage", { id: "run_1" }));
  expect(await answer?.text()).toBe("one");
  expect(takePrefetched(body("RunPage", { id: "run_1" }))).toBeUndefined();
  expect(takePrefetched(body("Viewer"))).toBeDefined();
  expect(fetch).toHaveBeenCalledTimes(2);
});

test("a failure is passed to the caller that takes the response", async () => {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => Promise.reject(new TypeError("away"))),
  );
  prefetch("Viewer", "query", {});
  await expect(takePrefetched(body("Viewer"))).rejects.toThrow("away");
});
