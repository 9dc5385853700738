import type { Fetcher, FetcherParams } from "@graphiql/toolkit";
import { type ExecutionResult, getOperationAST, OperationTypeNode, parse } from "graphql";
import { createClient } from "graphql-ws";

import { authorization, endpoint, post } from "./session.ts";

const FORBIDDEN = 4403;

/** Sends queries and mutations over HTTP and subscriptions over a websocket, as the signed-in caller. */
export function createFetcher(onSignedOut: () => void): Fetcher {
  const address = new URL(endpoint);
  address.protocol = endpoint.protocol === "https:" ? "wss:" : "ws:";
  const socket = createClient({
    url: address.href,
    keepAlive: 15_000,
    connectionParams: authorization,
    shouldRetry: (event) => !isForbidden(event),
    on: {
      closed: (event) => {
        if (isForbidden(event)) {
          onSignedOut();
        }
      },
    },
  });
  return (params) => {
    if (isSubscription(params)) {
      const { query, variables, operationName } = params;
      const results = socket.iterate({
        query,
        variables: (variables ?? null) as Record<string, unknown> | null,
        operationName: operationName ?? null,
      });
      // The toolkit declares errors as the class; what travels, and what it shows, is their formatted members.
      return results as unknown as AsyncIterable<ExecutionResult>;
    }
    return post(params).then((response) => {
      if (response.status === 401) {
        onSignedOut();
      }
      return response.json();
    });
  };
}

// GraphiQL's own fetcher asks a document that the editor refreshes with a delay, and so sends a subscription that was
// just typed the wrong way.
function isSubscription(params: FetcherParams): boolean {
  try {
    const operation = getOperationAST(parse(params.query), params.operationName);
    return operation?.operation === OperationTypeNode.SUBSCRIPTION;
  } catch {
    return false; // no document: the server says what is wrong with it
  }
}

function isForbidden(event: unknown): boolean {
  return event instanceof CloseEvent && event.code === FORBIDDEN;
}
