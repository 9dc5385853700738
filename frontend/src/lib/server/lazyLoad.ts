// Parts of the page that are loaded on first use.

import { setPartMissing, isReachable } from "./connection.ts";
import { RETRY_MS } from "./retryExchange.ts";

/**
 * Loads a part once. Retries while the server cannot be reached: a part that failed to load would stay missing until
 * the page is reloaded.
 */
export function lazyLoad<Part>(load: () => Promise<Part>): () => Promise<Part> {
  let part: Promise<Part> | null = null;
  return () => {
    part ??= untilLoaded(load).catch((failure: unknown) => {
      part = null;
      throw failure;
    });
    return part;
  };
}

async function untilLoaded<Part>(load: () => Promise<Part>): Promise<Part> {
  const waiting = Symbol("part");
  try {
    for (;;) {
      try {
        return await load();
      } catch {
        // The server may just have come back: only a second failure counts.
        if (await isReachable()) return await load();
      }
      setPartMissing(waiting, true);
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  } finally {
    setPartMissing(waiting, false);
  }
}
