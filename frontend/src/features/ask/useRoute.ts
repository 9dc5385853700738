import { useEffect, useState } from "react";
import { useClient } from "urql";
import { pipe, subscribe } from "wonka";

import { type Problem, problemOfError } from "../../lib/server/problem.ts";
import { AskRouteDocument } from "./ask.generated.ts";
import { type Attached, contextOf, type RouteAnswer } from "./routing.ts";

/** A question; one that is asked again has another `round`. */
export interface Question {
  request: string;
  files: readonly Attached[];
  round: number;
}

/** An answer and what it answers. */
export interface Answered {
  key: string;
  question: Question;
  answer: RouteAnswer | null;
  problem: Problem | null;
}

/**
 * Asks `route`. Cancels a request that is replaced or stopped.
 *
 * Keeps the last answer until the next arrives.
 */
export function useRoute(question: Question): { answered: Answered | null; asking: boolean; stop: () => void } {
  const client = useClient();
  const [answered, setAnswered] = useState<Answered | null>(null);
  const [stopped, setStopped] = useState<string | null>(null);
  const key = question.request === "" ? null : JSON.stringify(question);

  useEffect(() => {
    if (key === null || key === stopped) return undefined;
    const asked = JSON.parse(key) as Question;
    const answers = client.query(
      AskRouteDocument,
      { request: asked.request, context: contextOf(asked.files) },
      { requestPolicy: "network-only" },
    );
    const subscription = pipe(
      answers,
      subscribe(({ data, error }) =>
        setAnswered({
          key,
          question: asked,
          answer: data?.route ?? null,
          problem: error === undefined ? null : problemOfError(error),
        }),
      ),
    );
    return () => subscription.unsubscribe();
  }, [client, key, stopped]);

  return {
    answered: key === null ? null : answered,
    asking: key !== null && answered?.key !== key && stopped !== key,
    stop: () => setStopped(key),
  };
}
