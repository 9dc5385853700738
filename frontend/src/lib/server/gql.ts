// The tag of the generated documents, which parses a document on its first use: those of every page were parsed, printed
// and hashed before the first was shown.

import { createRequest } from "@urql/core";
import type { DocumentNode } from "graphql";

/** A document of an operation or a fragment, with the fragments it spreads. */
export function gql(texts: readonly string[], ...fragments: readonly DocumentNode[]): DocumentNode {
  let definitions: DocumentNode["definitions"] | undefined;
  return {
    kind: "Document",
    get definitions() {
      definitions ??= [
        // Each fragment once, however many ways lead to it.
        ...new Set([parsed(texts.join("")), ...fragments.map((fragment) => fragment.definitions)].flat()),
      ];
      return definitions;
    },
  } as DocumentNode;
}

function parsed(text: string): DocumentNode["definitions"] {
  return createRequest(text, {}).query.definitions;
}
