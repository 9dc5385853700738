import { useQuery } from "urql";

import { CatalogKindsDocument } from "./catalog.generated.ts";

/** Kinds of thing there are to give and to ask for, by name: the vocabulary of the catalog. */
export function useKinds(): readonly string[] {
  const [{ data }] = useQuery({ query: CatalogKindsDocument, requestPolicy: "cache-first" });
  return (data?.routingGuide.kinds ?? []).map(({ name }) => name).sort();
}
