import type { CombinedError } from "urql";

import { lost, type Refusal, refusalOf } from "./Notice.tsx";

interface Told {
  __typename: string;
}

/** What came of a command: what it succeeded with, or why it did not. */
export type Outcome<Success> = { done: Success; refusal: null } | { done: null; refusal: Refusal };

/** Reads the answer to a command, whose success is of one type and whose refusals are problems. */
export function outcomeOf<Answer extends Told, Name extends Answer["__typename"]>(
  error: CombinedError | undefined,
  told: Answer | undefined,
  success: Name,
  fields: readonly string[] = [],
): Outcome<Extract<Answer, { __typename: Name }>> {
  if (error !== undefined) return { done: null, refusal: lost(error) };
  if (told?.__typename === success) return { done: told as Extract<Answer, { __typename: Name }>, refusal: null };
  return { done: null, refusal: refusalOf(told ?? {}, fields) };
}

/** Whether a query was refused because the caller's scopes do not reach. */
export function isForbidden(error: CombinedError | undefined): boolean {
  return error?.graphQLErrors.some((one) => one.extensions["code"] === "FORBIDDEN") ?? false;
}
