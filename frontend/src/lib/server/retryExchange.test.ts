import { cacheExchange, Client, createRequest, fetchExchange, gql } from "@urql/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pipe, subscribe } from "wonka";

import { RETRY_MS, retryExchange } from "./retryExchange.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const refuses = (): never => {
  throw new TypeError("refused");
};
const lacksItsDatabase = (): Response =>
  new Response(
    JSON.stringify({ errors: [{ message: "away", extensions: { code: "UNAVAILABLE", retryable: true } }] }),
    { status: 503, headers: { "content-type": "application/json" } },
  );

test.each([
  ["is away", refuses],
  ["lacks its database", lacksItsDatabase],
])("a query keeps what it showed while the server %s, and is asked again until it is back", async (_, refuse) => {
  let away = false;
  let asked = 0;
  const client = new Client({
    url: "http://server.test/graphql",
    preferGetMethod: false,
    exchanges: [retryExchange, cacheExchange, fetchExchange],
    fetch: async () => {
      asked += 1;
      if (away) return refuse();
      return new Response(JSON.stringify({ data: { asked } }), { headers: { "content-type": "application/json" } });
    },
  });
  const seen: unknown[] = [];
  const request = createRequest(
    gql`
      query {
        asked
      }
    `,
    {},
  );
  const showing = pipe(
    client.executeQuery(request),
    subscribe(({ data, error }) => seen.push([data, error === undefined])),
  );
  await vi.advanceTimersByTimeAsync(0);
  expect(seen.at(-1)).toEqual([{ asked: 1 }, true]);

  away = true;
  client.reexecuteOperation(client.createRequestOperation("query", request, { requestPolicy: "network-only" }));
  await vi.advanceTimersByTimeAsync(2 * RETRY_MS + 100);
  expect(seen.at(-1)).toEqual([{ asked: 1 }, false]);
  expect(asked).toBe(4);

  away = false;
  await vi.advanceTimersByTimeAsync(RETRY_MS);
  expect(seen.at(-1)).toEqual([{ asked: 5 }, true]);

  away = true;
  client.reexecuteOperation(client.createRequestOperation("query", request, { requestPolicy: "network-only" }));
  await vi.advanceTimersByTimeAsync(0);
  showing.unsubscribe();
  await vi.advanceTimersByTimeAsync(10 * RETRY_MS);
  expect(asked).toBe(6);
});
