// Keeps queries alive while the server, or its database, cannot be reached: their last data stays, and failed ones are
// retried while they are in use.

import type { CombinedError, Exchange } from "@urql/core";
import { map, pipe, tap } from "wonka";

export const RETRY_MS = 3000;
/** Number of latest results kept. They cannot be tied to active queries, since a retried query is torn down first. */
const KEPT = 100;

function isAway(error: CombinedError | undefined): boolean {
  const answer = error?.response as Response | undefined;
  return error?.networkError !== undefined || answer?.status === 503;
}

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
        if (!isAway(error)) {
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
