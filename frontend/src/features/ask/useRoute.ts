import { useEffect, useState } from "react";
import { useClient } from "urql";
import { pipe, subscribe } from "wonka";

import { lost, type Refusal } from "../../components/Notice.tsx";
import { AskRouteDocument } from "./ask.generated.ts";
import { type Attached, contextOf, type RouteAnswer } from "./asking.ts";

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
  problem: Refusal | null;
}

/**
 * Asks `route`; a question that is replaced, or stopped, is taken back.
 *
 * The last answer stays until the next has come.
 */
export function useRoute(question: Question): { told: Answered | null; asking: boolean; stop: () => void } {
  const client = useClient();
  const [told, setTold] = useState<Answered | null>(null);
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
        setTold({
          key,
          question: asked,
          answer: data?.route ?? null,
          problem: error === undefined ? null : lost(error),
        }),
      ),
    );
    return () => subscription.unsubscribe();
  }, [client, key, stopped]);

  return {
    told: key === null ? null : told,
    asking: key !== null && told?.key !== key && stopped !== key,
    stop: () => setStopped(key),
  };
}
