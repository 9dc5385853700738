// Parts of the page that are loaded when they are first wanted.

import { partMissing, reachable } from "./connection.ts";
import { ASK_AGAIN_MS } from "./persevere.ts";

/**
 * Loads a part once, however often it is wanted. While the server cannot be reached, it goes on asking: a part that
 * failed to load would stay missing until the page is reloaded.
 */
export function lazily<Part>(load: () => Promise<Part>): () => Promise<Part> {
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
        // A server that answers may just have come back: only what fails once more is a fault.
        if (await reachable()) return await load();
      }
      partMissing(waiting, true);
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS));
    }
  } finally {
    partMissing(waiting, false);
  }
}
