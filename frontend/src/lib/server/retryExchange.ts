// Queries outlive a server that is away: what is shown stays, and what could not be read is asked for again for as long
// as somebody wants it.

import type { Exchange } from "@urql/core";
import { map, pipe, tap } from "wonka";

export const RETRY_MS = 3000;
/** Answers that are kept, the latest: a query that is asked anew is given up first, so being wanted is no measure. */
const KEPT = 100;

export const retryExchange: Exchange =
  ({ client, forward }) =>
  (operations) => {
    const known = new Map<number, unknown>();
    const timers = new Map<number, ReturnType<typeof setTimeout>>();
    return pipe(
      operations,
      tap(({ key }) => {
        clearTimeout(timers.get(key));
        timers.delete(key);
      }),
      forward,
      map((result) => {
        const { operation, data, error } = result;
        if (operation.kind !== "query") return result;
        if (error?.networkError === undefined) {
          known.delete(operation.key);
          known.set(operation.key, data);
          for (const oldest of known.keys()) {
            if (known.size <= KEPT) break;
            known.delete(oldest);
          }
          return result;
        }
        clearTimeout(timers.get(operation.key));
        const again = { ...operation, context: { ...operation.context, requestPolicy: "network-only" as const } };
        timers.set(
          operation.key,
          setTimeout(() => client.reexecuteOperation(again), RETRY_MS),
        );
        return data === undefined ? { ...result, data: known.get(operation.key) } : result;
      }),
    );
  };
