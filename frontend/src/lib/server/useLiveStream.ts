import { type AnyVariables, createRequest, type TypedDocumentNode } from "@urql/core";
import { useEffect } from "react";
import { useClient } from "urql";
import { onEnd, pipe, subscribe } from "wonka";

import { reportStream } from "./connection.ts";
import { follow } from "./live.ts";
import { useLatest } from "../hooks/useLatest.ts";

interface Options<Data> {
  /** Nothing is followed while this is null. */
  key: string | null;
  /** The cursor to start after, read when the key changes. */
  after: () => string | null;
  cursorOf: (data: Data) => string | null;
  isEnd?: (data: Data) => boolean;
  onMessage?: (data: Data) => void;
  poll: () => Promise<boolean>;
}

/**
 * Follows a subscription while the component is mounted; results also update the cache.
 *
 * Resubscribes when `key` changes.
 */
export function useLiveStream<Data, Variables extends AnyVariables>(
  document: TypedDocumentNode<Data, Variables>,
  variables: (after: string | null) => Variables,
  options: Options<Data>,
): void {
  const client = useClient();
  const latest = useLatest({ variables, options });
  const { key } = options;
  useEffect(() => {
    if (key === null) return undefined;
    const stream = Symbol(key);
    const stop = follow<Data>({
      after: latest.current.options.after(),
      open: (way, after, sink) => {
        const subscription = pipe(
          client.executeSubscription<Data, Variables>(createRequest(document, latest.current.variables(after)), {
            way,
            opened: sink.opened,
          }),
          onEnd(() => sink.done(false)),
          subscribe((result) => {
            if (result.error !== undefined) sink.done(true);
            // urql repeats the last result when the stream completes.
            else if (result.data !== undefined && result.hasNext) sink.next(result.data);
          }),
        );
        return () => subscription.unsubscribe();
      },
      cursorOf: (data) => latest.current.options.cursorOf(data),
      isEnd: (data) => latest.current.options.isEnd?.(data) ?? false,
      onMessage: (data) => {
        const { onMessage, isEnd } = latest.current.options;
        onMessage?.(data);
        // What has ended cannot be lost.
        if (isEnd?.(data) === true) reportStream(stream, null);
      },
      onState: (state) => reportStream(stream, state),
      poll: () => latest.current.options.poll(),
    });
    return () => {
      stop();
      reportStream(stream, null);
    };
  }, [client, document, key, latest]);
}
