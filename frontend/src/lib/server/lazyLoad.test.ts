// @vitest-environment happy-dom
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { FAULTS, lazyLoad } from "./lazyLoad.ts";
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
  const failed = expect(wanted()).rejects.toBe(LOST);
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  await failed;
  expect(load).toHaveBeenCalledTimes(FAULTS);
  has = true;
  expect(await wanted()).toBe("part");
});

test("loading ahead loads every part, also those that a loaded part declares, and survives one that fails", async () => {
  // The parts of the page are declared too when files share their modules.
  vi.resetModules();
  const fresh = await import("./lazyLoad.ts");
  server(() => true);
  vi.stubGlobal("requestIdleCallback", (act: () => void) => setTimeout(act, 0));
  const inner = vi.fn(() => Promise.resolve("inner"));
  const broken = vi.fn(() => Promise.reject(LOST));
  const outer = vi.fn(() => {
    fresh.lazyLoad(inner);
    return Promise.resolve("outer");
  });
  fresh.lazyLoad(broken);
  const wanted = fresh.lazyLoad(outer);
  const ahead = fresh.loadAhead();
  await vi.advanceTimersByTimeAsync(RETRY_MS * FAULTS);
  await ahead;
  expect(broken).toHaveBeenCalledTimes(FAULTS);
  expect(inner).toHaveBeenCalledTimes(1);
  await wanted();
  expect(outer).toHaveBeenCalledTimes(1);
});

test("loading ahead waits for the answers that the page waits for", async () => {
  vi.resetModules();
  const fresh = await import("./lazyLoad.ts");
  const { awaitAnswer } = await import("./connection.ts");
  const idle = vi.fn((act: () => void) => setTimeout(act, 10));
  vi.stubGlobal("requestIdleCallback", idle);
  const load = vi.fn(() => Promise.resolve("part"));
  fresh.lazyLoad(load);
  void awaitAnswer(new Promise((resolve) => setTimeout(() => resolve(new Response("{}")), 2000)));
  const ahead = fresh.loadAhead();
  await vi.advanceTimersByTimeAsync(1990);
  expect(load).not.toHaveBeenCalled();
  expect(idle).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20);
  await ahead;
  expect(load).toHaveBeenCalledTimes(1);
});

test("loading ahead waits for what the page asks for once the browser is idle", async () => {
  vi.resetModules();
  const fresh = await import("./lazyLoad.ts");
  const { awaitAnswer } = await import("./connection.ts");
  vi.stubGlobal("requestIdleCallback", (act: () => void) => setTimeout(act, 10));
  const load = vi.fn(() => Promise.resolve("part"));
  fresh.lazyLoad(load);
  const ahead = fresh.loadAhead();
  void awaitAnswer(new Promise((resolve) => setTimeout(() => resolve(new Response("{}")), 2000)));
  await vi.advanceTimersByTimeAsync(1990);
  expect(load).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(20);
  await ahead;
  expect(load).toHaveBeenCalledTimes(1);
});
