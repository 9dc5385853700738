// The GraphQL client: one normalised cache, commands and queries over HTTP, subscriptions over a websocket or
// server-sent events, whichever the operation's context asks for.

import { Client, fetchExchange, mapExchange, subscriptionExchange, type SubscriptionOperation } from "@urql/core";
import { cacheExchange } from "@urql/exchange-graphcache";
import { type Client as Socket, createClient } from "graphql-ws";

import { served } from "./base.ts";
import { signedOut } from "./connection.ts";
import { SCHEMA_JSON, TYPES_WITHOUT_ID } from "./schema.generated.ts";
import { readEvents } from "./sse.ts";

export const ENDPOINT = new URL(served("/graphql"), location.href);
const FORBIDDEN = 4403;
const HEADERS = {
  "content-type": "application/json",
  // The name runs are shown to come from.
  "x-packline-client": "web page",
};

function createSocket(): Socket {
  const address = new URL(ENDPOINT);
  address.protocol = ENDPOINT.protocol === "https:" ? "wss:" : "ws:";
  return createClient({
    url: address.href,
    keepAlive: 15_000,
    // Streams are taken up again by `follow`, after the last cursor seen; the library would ask for the first one again.
    retryAttempts: 0,
    on: {
      closed: (event) => {
        if (event instanceof CloseEvent && event.code === FORBIDDEN) signedOut();
      },
    },
  });
}

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(input, init);
  if (answer.status === 401) signedOut();
  return answer;
}

function overSocket(socket: Socket, operation: SubscriptionOperation) {
  return {
    subscribe: (sink: { next: (value: never) => void; error: (failure: unknown) => void; complete: () => void }) => ({
      unsubscribe: socket.subscribe(
        { query: operation.query ?? "", variables: operation.variables ?? {} },
        { next: (value) => sink.next(value as never), error: (failure) => sink.error(failure), complete: () => sink.complete() },
      ),
    }),
  };
}

function overEvents(operation: SubscriptionOperation) {
  return {
    subscribe: (sink: { next: (value: never) => void; error: (failure: unknown) => void; complete: () => void }) => {
      const stop = new AbortController();
      const request = { query: operation.query, variables: operation.variables };
      send(ENDPOINT, {
        method: "POST",
        headers: { ...HEADERS, accept: "text/event-stream" },
        body: JSON.stringify(request),
        signal: stop.signal,
      })
        .then((answer) => readEvents(answer, (value) => sink.next(value as never)))
        .then(() => sink.complete(), (failure: unknown) => (stop.signal.aborted ? undefined : sink.error(failure)));
      return { unsubscribe: () => stop.abort() };
    },
  };
}

export function createGraphQL(): Client {
  const socket = createSocket();
  const keys = Object.fromEntries(TYPES_WITHOUT_ID.map((name) => [name, () => null]));
  return new Client({
    url: ENDPOINT.href,
    preferGetMethod: false,
    requestPolicy: "cache-and-network",
    fetch: send,
    fetchOptions: { headers: { ...HEADERS, accept: "application/graphql-response+json" } },
    exchanges: [
      // An answer that is refused as a whole has the data null, which the types know nothing of.
      mapExchange({ onResult: (result) => ((result.data as unknown) === null ? { ...result, data: undefined } : result) }),
      cacheExchange({ schema: JSON.parse(SCHEMA_JSON) as never, keys }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (request, operation) =>
          operation.context["way"] === "stream" ? overEvents(request) : overSocket(socket, request),
      }),
    ],
  });
}
