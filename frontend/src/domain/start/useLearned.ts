import { useMemo, useState } from "react";
import { useMutation, useQuery } from "urql";

import { type LearnedValue, learnedValues } from "./learned.ts";
import { LearnedDocument, type LearnedQuery, NeverLearnDocument } from "./learned.generated.ts";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";

type Choices = LearnedQuery["myDefaults"]["packs"][number];
export type LearnedName = Choices["values"][number]["field"];

/** Learned values of the inputs of a pack or pipeline, and a way to exclude one. */
export interface Learned {
  usual: Readonly<Record<string, LearnedValue<LearnedName>>>;
  never: (field: LearnedName) => void;
  /** Why the last exclusion failed. */
  refusal: Problem | null;
}

const NONE: Choices = { target: "", uses: 0, values: [] };

/** The learned values of a target; none until they are loaded, or if they cannot be read. */
export function useLearned(target: string): Learned {
  const [{ data }, again] = useQuery({ query: LearnedDocument, variables: { target }, requestPolicy: "network-only" });
  const [, exclude] = useMutation(NeverLearnDocument);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const known = data?.myDefaults.pipelines[0] ?? data?.myDefaults.packs[0] ?? NONE;
  const usual = useMemo(() => learnedValues(known), [known]);

  async function never(field: LearnedName): Promise<void> {
    const answer = await exclude({ target, field });
    setRefusal(outcomeOf(answer.error, answer.data?.setDefault, "DefaultsSuccess").refusal);
    again({ requestPolicy: "network-only" });
  }
  return { usual, never: (field) => void never(field), refusal };
}
