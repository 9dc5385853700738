// @vitest-environment happy-dom
import { beforeEach, expect, it, vi } from "vitest";

import { notifyFailures } from "./notify.ts";

const NOW = Date.parse("2026-11-22T12:00:00Z");
const shown: { title: string; body: string | undefined; click: () => void }[] = [];
const held = new Set<string>();
let number = 0;

class Notified {
  static permission = "granted";
  private readonly at: number;
  constructor(title: string, options: { body?: string }) {
    this.at = shown.push({ title, body: options.body, click: () => undefined }) - 1;
  }
  addEventListener(_name: string, action: () => void): void {
    const one = shown[this.at];
    if (one !== undefined) one.click = action;
  }
  close(): void {
    this.addEventListener("closed", () => undefined);
  }
}

beforeEach(() => {
  shown.length = 0;
  held.clear();
  number += 1;
  localStorage.setItem("packline.notify", "on");
  vi.stubGlobal("Notification", Notified);
  vi.stubGlobal("isSecureContext", true);
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  Object.defineProperty(navigator, "locks", {
    configurable: true,
    value: {
      request: async (name: string, _options: unknown, action: (lock: object | null) => Promise<void>) => {
        const free = !held.has(name);
        held.add(name);
        await action(free ? {} : null);
      },
    },
  });
});

function failed(change: object = {}) {
  return {
    id: `run_${number}`,
    title: "Deck",
    state: "FAILED",
    endedAt: "2026-11-22T11:59:58Z",
    caller: { id: "me" },
    failure: { message: "No paper." },
    ...change,
  };
}

it("tells once of a run of mine that fails while nobody looks, and opens it", () => {
  const open = vi.fn<(run: string) => void>();
  notifyFailures([failed()], "me", NOW, open);
  notifyFailures([failed({ title: "Deck, looked at" })], "me", NOW, open);
  expect(shown.map(({ title, body }) => [title, body])).toEqual([["Deck failed", "No paper."]]);
  shown[0]?.click();
  expect(open).toHaveBeenCalledWith(`run_${number}`);
});

it("tells again when a resumed run fails again", () => {
  notifyFailures([failed()], "me", NOW, vi.fn<(run: string) => void>());
  notifyFailures([failed({ endedAt: "2026-11-22T11:59:59Z" })], "me", NOW, vi.fn<(run: string) => void>());
  expect(shown).toHaveLength(2);
});

it.each([
  ["runs of others", { caller: { id: "you" } }],
  ["runs that succeed", { state: "SUCCEEDED" }],
  ["what failed long ago", { endedAt: "2026-11-20T00:00:00Z" }],
])("keeps quiet about %s", (_what, change) => {
  notifyFailures([failed(change)], "me", NOW, vi.fn<(run: string) => void>());
  expect(shown).toEqual([]);
});

it("keeps quiet while somebody looks, and when it was not asked to tell", () => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(false);
  notifyFailures([failed()], "me", NOW, vi.fn<(run: string) => void>());
  vi.spyOn(document, "hidden", "get").mockReturnValue(true);
  localStorage.removeItem("packline.notify");
  notifyFailures([failed({ id: "other" })], "me", NOW, vi.fn<(run: string) => void>());
  expect(shown).toEqual([]);
});

it("lets one tab tell", () => {
  held.add(`packline.failed.run_${number}.2026-11-22T11:59:58Z`);
  notifyFailures([failed()], "me", NOW, vi.fn<(run: string) => void>());
  expect(shown).toEqual([]);
});
