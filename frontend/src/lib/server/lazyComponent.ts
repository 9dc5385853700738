// Components that are loaded on first use, and loaded again after a failure.

import { type ComponentType, createElement, lazy, type ReactNode, useState, useSyncExternalStore } from "react";

/** Forget what failed, one function for each component that did. */
const failed = new Set<() => void>();
const listeners = new Set<() => void>();
let round = 0;

type Part<Props extends object> = ((props: Props) => ReactNode) & { preload: () => Promise<void> };

/**
 * A component of a part of the page, for use inside `Suspense`.
 *
 * React keeps the failure of a lazy component until the page is reloaded; this one loads again after
 * `retryFailedParts`.
 */
export function lazyComponent<Name extends string, Props extends object>(
  load: () => Promise<Record<Name, ComponentType<Props>>>,
  name: Name,
): Part<Props> {
  let loaded: ComponentType<Props> | null = null;
  const get = async () => (loaded = (await load())[name]);
  const make = () =>
    lazy(async () => {
      try {
        return { default: await get() };
      } catch (failure) {
        failed.add(forget);
        throw failure;
      }
    });
  let pending = make();
  function forget(): void {
    pending = make();
  }
  function LazyPart(props: Props): ReactNode {
    // The same while it is mounted: another would lose what the user typed into it.
    const [shown] = useState<ComponentType<Props>>(() => loaded ?? pending);
    return createElement(shown, props);
  }
  // A failure to load ahead is shown where the component is used.
  return Object.assign(LazyPart, {
    preload: async () => {
      await get().catch(() => undefined);
    },
  });
}

/** Lets components that failed to load be loaded again, and the boundaries that show their failures render again. */
export function retryFailedParts(): void {
  if (failed.size === 0) return;
  for (const forget of failed) forget();
  failed.clear();
  round += 1;
  for (const listener of listeners) listener();
}

/** Changes when components that failed are to be loaded again. */
export function useRetryRound(): number {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => round,
  );
}
