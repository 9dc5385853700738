// Answers that were asked for before the client was there to ask. Each is taken once, by the first who asks for it.

import { served } from "./base.ts";

export const ENDPOINT = new URL(served("/graphql"), location.href);
export const HEADERS = {
  "content-type": "application/json",
  // The name runs are shown to come from.
  "x-packline-client": "web page",
};
export const ACCEPT_ANSWER = "application/graphql-response+json";

const asked = new Map<string, Promise<Response>>();

function nameOf(operationName: string, variables: object): string {
  return JSON.stringify([operationName, variables]);
}

export function askAhead(operationName: string, query: string, variables: object): void {
  const answer = fetch(ENDPOINT, {
    method: "POST",
    headers: { ...HEADERS, accept: ACCEPT_ANSWER },
    body: JSON.stringify({ operationName, query, variables }),
  });
  // Whoever takes it is told; until then nobody is there to be.
  answer.catch(() => undefined);
  asked.set(nameOf(operationName, variables), answer);
}

/** The answer to a request of the client, if it was asked ahead. */
export function askedAhead(body: BodyInit | null | undefined): Promise<Response> | undefined {
  if (asked.size === 0 || typeof body !== "string") return undefined;
  const { operationName, variables } = JSON.parse(body) as { operationName: string; variables?: object };
  const name = nameOf(operationName, variables ?? {});
  const answer = asked.get(name);
  asked.delete(name);
  return answer;
}
