// The state of the connection: signed in or not, and whether the data is live. One store for the page.

import { useSyncExternalStore } from "react";

import { withBase } from "./base.ts";
import { isOutdated } from "./build.ts";
import type { LiveState } from "./live.ts";

export interface Connection {
  signedOut: boolean;
  /** The worst of all streams that are followed; null when none is. */
  live: LiveState | null;
  /** When the data was last known to be current, in milliseconds. */
  freshAt: number;
  /** Whether a part of the page waits for a server that cannot be reached. */
  partsMissing: boolean;
  /** Whether the browser has no network at all. */
  offline: boolean;
  /** Whether the server serves another build of the page than this tab runs. */
  outdated: boolean;
}

/** A server that is silent for so long is away: a network that is not up again swallows requests. */
const ANSWERS_WITHIN_MS = 10_000;
const ORDER: readonly LiveState[] = ["live", "connecting", "polling", "reconnecting"];
const states = new Map<symbol, LiveState>();
const missing = new Set<symbol>();
const listeners = new Set<() => void>();
let current: Connection = {
  signedOut: false,
  live: null,
  freshAt: Date.now(),
  partsMissing: false,
  offline: false,
  outdated: false,
};

function set(change: Partial<Connection>): void {
  current = { ...current, ...change };
  for (const listener of listeners) listener();
}

export function signedOut(): void {
  if (!current.signedOut) set({ signedOut: true });
}

/** Whether the server answers at all. */
export async function isReachable(): Promise<boolean> {
  try {
    return (await fetch(withBase("/healthz"), { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) })).ok;
  } catch {
    return false;
  }
}

/** Answers the page waits for. */
let awaited = 0;
/** Called when there are none. */
const whenAnswered = new Set<() => void>();

/** Passes an answer on; until then `isWaiting` is true. */
export async function awaitAnswer(answer: Promise<Response>): Promise<Response> {
  awaited += 1;
  try {
    return await answer;
  } finally {
    awaited -= 1;
    if (awaited === 0) {
      for (const resume of whenAnswered) resume();
      whenAnswered.clear();
    }
  }
}

/** Whether the page waits for an answer of the server. */
export function isWaiting(): boolean {
  return awaited > 0;
}

/** Resolves when the page waits for no answer, at once if it waits for none. */
export function allAnswered(): Promise<void> {
  return isWaiting() ? new Promise((resolve) => whenAnswered.add(resolve)) : Promise.resolve();
}

/** Asks the server for its build; true when it is another one. It stays so until the page is reloaded. */
export async function checkBuild(): Promise<boolean> {
  if (!current.outdated && (await isOutdated())) set({ outdated: true });
  return current.outdated;
}

/** Follows whether the browser has a network. */
export function followNetwork(): void {
  addEventListener("offline", () => {
    set(current.live === "reconnecting" ? { offline: true } : { offline: true, freshAt: Date.now() });
  });
  addEventListener("online", () => set({ offline: false }));
}

/** Records whether a part of the page waits for the server. */
export function setPartMissing(part: symbol, waits: boolean): void {
  if (waits) missing.add(part);
  else missing.delete(part);
  if (current.partsMissing !== missing.size > 0) set({ partsMissing: missing.size > 0 });
}

/** Records that streams were lost, which is noticed only now: the data is as old as their last sign of life. */
export function lostSince(at: number): void {
  if (states.size === 0 || current.live === "reconnecting") return;
  for (const stream of states.keys()) states.set(stream, "reconnecting");
  set({ live: "reconnecting", freshAt: at });
}

/** Records the state of a stream; null removes it. */
export function reportStream(stream: symbol, state: LiveState | null): void {
  if (state === null) states.delete(stream);
  else states.set(stream, state);
  let worst: LiveState | null = null;
  for (const one of states.values()) {
    if (worst === null || ORDER.indexOf(one) > ORDER.indexOf(worst)) worst = one;
  }
  const lost = worst === "reconnecting" && current.live !== "reconnecting";
  set(lost ? { live: worst, freshAt: Date.now() } : { live: worst });
}

/** A selected value of the connection; renders again only when that value changes. */
export function useConnection<Value extends string | number | boolean | null>(
  pick: (connection: Connection) => Value,
): Value {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => pick(current),
  );
}
