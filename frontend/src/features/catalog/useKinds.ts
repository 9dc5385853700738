import { useEffect, useState } from "react";
import { useClient } from "urql";

import { CatalogKindsDocument } from "./catalog.generated.ts";

const LATER_MS = 250;

export interface Kinds {
  accepts: readonly string[];
  produces: readonly string[];
}

/** Kinds of thing that entries of the catalog take and make, by name: what there is to choose from. */
export function useKinds(): Kinds {
  const client = useClient();
  const [kinds, setKinds] = useState<Kinds>({ accepts: [], produces: [] });
  useEffect(() => {
    const stop = new AbortController();
    async function read(): Promise<void> {
      const accepts = new Set<string>();
      const produces = new Set<string>();
      let after: string | null = null;
      do {
        // Each page begins where the one before ends.
        // oxlint-disable-next-line no-await-in-loop
        const answer: { data?: { catalog: Page } | undefined } = await client.query(CatalogKindsDocument, { after }, { requestPolicy: "cache-first" }).toPromise();
        const page = answer.data?.catalog;
        for (const { metadata } of page?.nodes ?? []) {
          for (const kind of metadata.accepts) accepts.add(kind);
          for (const kind of metadata.produces) produces.add(kind);
        }
        after = page?.pageInfo.hasNextPage === true ? page.pageInfo.endCursor : null;
      } while (after !== null && !stop.signal.aborted);
      if (!stop.signal.aborted) setKinds({ accepts: [...accepts].sort(), produces: [...produces].sort() });
    }
    // The list comes first; nobody chooses before it is there.
    const timer = setTimeout(() => void read(), LATER_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [client]);
  return kinds;
}

interface Page {
  nodes: readonly { metadata: { accepts: readonly string[]; produces: readonly string[] } }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}
