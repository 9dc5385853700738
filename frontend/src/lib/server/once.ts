/** Loads something on first use and keeps it; after a failure the next use loads it again. */
export function once<Loaded>(load: () => Promise<Loaded>): () => Promise<Loaded> {
  let loaded: Promise<Loaded> | null = null;
  return () => {
    loaded ??= load().catch((failure: unknown) => {
      loaded = null;
      throw failure;
    });
    return loaded;
  };
}
