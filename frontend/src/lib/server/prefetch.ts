// Queries sent before the GraphQL client is loaded. Each answer is used once, by the first request for it.

import { withBase } from "./base.ts";

export const ENDPOINT = new URL(withBase("/graphql"), location.href);
export const HEADERS = {
  "content-type": "application/json",
  // Runs started from the page show this name.
  "x-packline-client": "web page",
};
export const ACCEPT_ANSWER = "application/graphql-response+json";

const answers = new Map<string, Promise<Response>>();

function nameOf(operationName: string, variables: object): string {
  return JSON.stringify([operationName, variables]);
}

export function prefetch(operationName: string, query: string, variables: object): void {
  const answer = fetch(ENDPOINT, {
    method: "POST",
    headers: { ...HEADERS, accept: ACCEPT_ANSWER },
    body: JSON.stringify({ operationName, query, variables }),
  });
  // The caller of `takePrefetched` handles a failure.
  answer.catch(() => undefined);
  answers.set(nameOf(operationName, variables), answer);
}

/** The answer to a request of the client, if it was prefetched. */
export function takePrefetched(body: BodyInit | null | undefined): Promise<Response> | undefined {
  if (answers.size === 0 || typeof body !== "string") return undefined;
  const { operationName, variables } = JSON.parse(body) as { operationName: string; variables?: object };
  const name = nameOf(operationName, variables ?? {});
  const answer = answers.get(name);
  answers.delete(name);
  return answer;
}
