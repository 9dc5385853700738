// Parts of the page that are loaded on first use, or ahead of it.

import { allAnswered, checkBuild, isReachable, isWaiting, setPartMissing } from "./connection.ts";
import { RETRY_MS } from "./retryExchange.ts";

/** A part fails for good when it cannot be loaded so often from a server that answers. */
export const FAULTS = 3;

const parts = new Set<() => Promise<unknown>>();

/**
 * Loads a part once. Retries while the server cannot be reached: a part that failed to load would stay missing until
 * the page is reloaded. A part of a build that the server no longer has never loads; the page offers to reload.
 */
export function lazyLoad<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | null = null;
  const wanted = (): Promise<Part> => {
    part ??= untilLoaded(load).catch((failure: unknown) => {
      part = null;
      throw failure;
    });
    return part;
  };
  parts.add(wanted);
  return wanted;
}

/**
 * Loads all parts one by one while the browser is idle and the page has its answers, so that a click does not need the
 * server. Includes the parts that loaded parts declare.
 */
export async function loadAhead(): Promise<void> {
  for (const load of parts) {
    do {
      await allAnswered();
      await idle();
      // What was rendered meanwhile may have asked for more.
    } while (isWaiting());
    // The page that needs the part tries again and shows the failure.
    await load().catch(() => undefined);
  }
}

function idle(): Promise<unknown> {
  return new Promise((resolve) =>
    "requestIdleCallback" in globalThis ? requestIdleCallback(resolve) : setTimeout(resolve, 100),
  );
}

/** Never ends: only a reload brings a part of another build. */
function forReload(waiting: symbol): Promise<never> {
  setPartMissing(waiting, true);
  return new Promise(() => undefined);
}

async function untilLoaded<Part>(load: () => Promise<Part>): Promise<Part> {
  const waiting = Symbol("part");
  let faults = 0;
  try {
    for (;;) {
      try {
        return await load();
      } catch (failure) {
        if (await isReachable()) {
          if (await checkBuild()) return await forReload(waiting);
          faults += 1;
          if (faults === FAULTS) throw failure;
          // The server may just have come back.
          if (faults === 1) continue;
        }
      }
      setPartMissing(waiting, true);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } finally {
    setPartMissing(waiting, false);
  }
}
