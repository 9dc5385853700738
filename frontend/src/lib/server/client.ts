// The GraphQL client: one normalised cache, commands and queries over HTTP, subscriptions over a websocket or
// server-sent events, whichever the operation's context asks for.

import { Client, fetchExchange, mapExchange, subscriptionExchange, type SubscriptionOperation } from "@urql/core";
import { cacheExchange, type KeyingConfig } from "@urql/exchange-graphcache";
import { type Client as Socket, createClient } from "graphql-ws";

import { ACCEPT_ANSWER, takePrefetched, ENDPOINT, HEADERS } from "./prefetch.ts";
import { awaitAnswer, lostSince, signedOut } from "./connection.ts";
import { SCHEMA_JSON, TYPES_WITHOUT_ID } from "./schema.generated.ts";
import { retryExchange } from "./retryExchange.ts";
import { onWake } from "../browser/wake.ts";
import { plainAnswer } from "../text/plain.ts";
import { readEvents } from "./sse.ts";

const FORBIDDEN = 4403;

/** Without a pong in this time the connection is dead. */
const PONG_MS = 8000;

/** Ends each event stream that is open. */
const eventStreams = new Set<() => void>();

/** Gives up all connections, of which none has given a sign of life since a moment; `follow` opens others. */
function abandon(socket: Socket, since: number): void {
  lostSince(since);
  socket.terminate();
  for (const end of eventStreams) end();
}

function createSocket(): Socket {
  const address = new URL(ENDPOINT);
  address.protocol = ENDPOINT.protocol === "https:" ? "wss:" : "ws:";
  let unanswered: ReturnType<typeof setTimeout> | undefined;
  const socket = createClient({
    url: address.href,
    keepAlive: 15_000,
    // `follow` resumes streams after the last cursor; the library would send the first cursor again.
    retryAttempts: 0,
    on: {
      ping: (received) => {
        const asked = Date.now();
        if (!received) unanswered = setTimeout(() => abandon(socket, asked), PONG_MS);
      },
      pong: (received) => {
        if (received) clearTimeout(unanswered);
      },
      closed: (event) => {
        clearTimeout(unanswered);
        if (event instanceof CloseEvent && event.code === FORBIDDEN) signedOut();
      },
    },
  });
  // What was sent while the computer slept is lost, and a connection that broke meanwhile does not say so.
  onWake((ranAt) => abandon(socket, ranAt));
  return socket;
}

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const answer = await awaitAnswer(takePrefetched(init?.body) ?? fetch(input, init));
  if (answer.status === 401) signedOut();
  return answer;
}

interface Sink {
  next: (value: never) => void;
  error: (failure: unknown) => void;
  complete: () => void;
}

function overSocket(
  socket: Socket,
): (
  operation: SubscriptionOperation,
  opened: () => void,
) => { subscribe: (sink: Sink) => { unsubscribe: () => void } } {
  let connected = false;
  socket.on("connected", () => (connected = true));
  socket.on("closed", () => (connected = false));
  return (operation, opened) => ({
    subscribe: (sink) => {
      const forget = socket.on("connected", opened);
      const stop = socket.subscribe(
        { query: operation.query ?? "", variables: operation.variables ?? {} },
        {
          next: (value) => sink.next(value as never),
          error: (failure) => sink.error(failure),
          complete: () => sink.complete(),
        },
      );
      if (connected) opened();
      return {
        unsubscribe: () => {
          forget();
          stop();
        },
      };
    },
  });
}

function overEvents(operation: SubscriptionOperation, opened: () => void) {
  return {
    subscribe: (sink: Sink) => {
      const stop = new AbortController();
      const lose = (): void => {
        stop.abort();
        sink.error(new Error("The stream was lost."));
      };
      eventStreams.add(lose);
      const request = { query: operation.query, variables: operation.variables };
      send(ENDPOINT, {
        method: "POST",
        headers: { ...HEADERS, accept: "text/event-stream" },
        body: JSON.stringify(request),
        signal: stop.signal,
      })
        .then((answer) => readEvents(answer, opened, (value) => sink.next(value as never)))
        .then(
          () => sink.complete(),
          (failure: unknown) => (stop.signal.aborted ? undefined : sink.error(failure)),
        );
      return {
        unsubscribe: () => {
          eventStreams.delete(lose);
          stop.abort();
        },
      };
    },
  };
}

export function createGraphQL(): Client {
  const subscribe = overSocket(createSocket());
  const keys: KeyingConfig = {
    ...Object.fromEntries(TYPES_WITHOUT_ID.map((name) => [name, () => null])),
    // Its name is its id: what draining answers updates the list of workers.
    Worker: ({ name }) => name as string,
  };
  return new Client({
    url: ENDPOINT.href,
    preferGetMethod: false,
    requestPolicy: "cache-and-network",
    fetch: send,
    fetchOptions: { headers: { ...HEADERS, accept: ACCEPT_ANSWER } },
    exchanges: [
      retryExchange,
      // A response refused as a whole has null data, which the types do not declare.
      mapExchange({
        onResult: (result) => ((result.data as unknown) === null ? { ...result, data: undefined } : result),
      }),
      cacheExchange({ schema: JSON.parse(SCHEMA_JSON) as never, keys }),
      // Applied before the cache, so that every text shown is covered.
      mapExchange({
        onResult: (result) =>
          result.data === undefined ? result : { ...result, data: plainAnswer(result.data as unknown) },
      }),
      fetchExchange,
      subscriptionExchange({
        forwardSubscription: (request, { context }) => {
          const opened = context["opened"] as () => void;
          return context["way"] === "stream" ? overEvents(request, opened) : subscribe(request, opened);
        },
      }),
    ],
  });
}
