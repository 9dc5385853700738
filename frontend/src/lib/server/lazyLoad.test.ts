// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { lazyLoad } from "./lazyLoad.ts";
import { RETRY_MS } from "./retryExchange.ts";

const LOST = new TypeError("Failed to fetch dynamically imported module");

beforeEach(() => void vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

function server(answers: () => boolean): void {
  vi.stubGlobal("fetch", () =>
    answers() ? Promise.resolve(new Response("ok")) : Promise.reject(new TypeError("Failed to fetch")),
  );
}

test("a part is loaded once, however often it is wanted", async () => {
  const load = vi.fn<() => Promise<string>>().mockResolvedValue("part");
  const wanted = lazyLoad(load);
  expect(await Promise.all([wanted(), wanted()])).toEqual(["part", "part"]);
  expect(await wanted()).toBe("part");
  expect(load).toHaveBeenCalledTimes(1);
});

test("while the server is away a part is asked for again, until it is back", async () => {
  let up = false;
  server(() => up);
  const load = vi.fn(() => (up ? Promise.resolve("part") : Promise.reject(LOST)));
  const part = lazyLoad(load)();
  await vi.advanceTimersByTimeAsync(RETRY_MS * 2);
  expect(load).toHaveBeenCalledTimes(3);
  up = true;
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(await part).toBe("part");
});

test("a part that a reachable server does not have is a fault, and is asked for when it is wanted again", async () => {
  server(() => true);
  let has = false;
  const load = vi.fn(() => (has ? Promise.resolve("part") : Promise.reject(LOST)));
  const wanted = lazyLoad(load);
  await expect(wanted()).rejects.toBe(LOST);
  expect(load).toHaveBeenCalledTimes(2);
  has = true;
  expect(await wanted()).toBe("part");
});
