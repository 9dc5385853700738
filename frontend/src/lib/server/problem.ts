// What the page says when the server refuses a command or cannot be reached.

import type { CombinedError } from "urql";

export interface Problem {
  message: string;
  hint: string | null;
  details: string[];
  /** What is wrong with single inputs, by name. */
  fields: Record<string, string>;
}

interface HintParts {
  text: string | null;
  closest: string | null;
}

interface ProblemParts {
  __typename?: string;
  message?: string;
  hintParts?: HintParts | null;
  issues?: readonly { path: readonly string[]; message: string; hint: string | null }[];
  missing?: readonly { message: string; hint: string | null }[];
}

/** A hint as text, without the API operation, which does not help users of the page. */
function hintOf(parts: HintParts | null): string | null {
  const meant = parts?.closest ? `Did you mean \`${parts.closest}\`?` : "";
  return [meant, parts?.text ?? ""].filter((part) => part !== "").join(" ") || null;
}

/** The problem of a refused command; `known` are the fields a form can show messages at. */
export function problemOf(problem: ProblemParts, known: readonly string[] = []): Problem {
  const fields = new Map<string, string>();
  const details: string[] = [];
  for (const [place, issue] of (problem.issues ?? []).entries()) {
    const name = issue.path.findLast((part) => known.includes(part));
    const text = issue.hint === null ? issue.message : `${issue.message} ${issue.hint}`;
    if (name !== undefined) fields.set(name, fields.has(name) ? `${fields.get(name)} ${text}` : text);
    else if (place > 0) details.push(text); // the problem has the message and hint of the first issue
  }
  for (const missing of problem.missing ?? []) {
    details.push(missing.hint === null ? missing.message : `${missing.message} ${missing.hint}`);
  }
  // The message has the first issue's words, which are at its field already.
  const first = problem.issues?.[0]?.path.findLast((part) => known.includes(part));
  return {
    message:
      first === undefined
        ? (problem.message ?? "The server refused it.")
        : fields.size === 1
          ? "Change the marked field."
          : `Change the ${fields.size} marked fields.`,
    hint: first === undefined ? hintOf(problem.hintParts ?? null) : null,
    details: [...new Set(details)],
    fields: Object.fromEntries(fields),
  };
}

interface Failed {
  graphQLErrors: readonly { message: string }[];
  networkError?: Error | undefined;
}

/** The problem of a query that was not answered, or not in full. */
export function problemOfError(error: Failed): Problem {
  return problemOfFailed(error, "Check that the server is running.");
}

/** The same for a command, which the server may have carried out all the same. */
export function problemOfCommand(error: Failed): Problem {
  return problemOfFailed(
    error,
    "The change may or may not have been made. Check that the server is running and look before you try again.",
  );
}

function problemOfFailed(error: Failed, hint: string): Problem {
  const unreachable = error.networkError !== undefined;
  return {
    message: unreachable ? "The server did not answer." : error.graphQLErrors.map(({ message }) => message).join("\n"),
    hint: unreachable ? hint : null,
    details: [],
    fields: {},
  };
}

/** The result of a command: its success or its problem. */
export type Outcome<Success> = { done: Success; refusal: null } | { done: null; refusal: Problem };

/** Reads the response to a command with one success type; its other types are problems. */
export function outcomeOf<Answer extends { __typename: string }, Name extends Answer["__typename"]>(
  error: CombinedError | undefined,
  result: Answer | null | undefined,
  success: Name,
  fields: readonly string[] = [],
): Outcome<Extract<Answer, { __typename: Name }>> {
  if (error !== undefined) return { done: null, refusal: problemOfCommand(error) };
  if (result?.__typename === success) return { done: result as Extract<Answer, { __typename: Name }>, refusal: null };
  return { done: null, refusal: problemOf(result ?? {}, fields) };
}

/** Whether a query was refused for a missing scope. */
export function isForbidden(error: CombinedError | undefined): boolean {
  return error?.graphQLErrors.some((one) => one.extensions["code"] === "FORBIDDEN") ?? false;
}
