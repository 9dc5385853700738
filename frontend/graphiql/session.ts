// Authentication: the browser's login cookie if there is one, else a typed token, kept for this tab only.

const KEY = "packline-graphiql-token";

export const endpoint = new URL("../graphql", document.baseURI);

export function token(): string | null {
  return sessionStorage.getItem(KEY);
}

export function keepToken(value: string | null): void {
  if (value === null) {
    sessionStorage.removeItem(KEY);
  } else {
    sessionStorage.setItem(KEY, value);
  }
}

export function authorization(): Record<string, string> {
  const value = token();
  return value === null ? {} : { Authorization: `Bearer ${value}` };
}

/** Sends one operation as the signed-in caller. */
export function post(operation: object): Promise<Response> {
  return fetch(endpoint, {
    method: "POST",
    headers: {
      accept: "application/graphql-response+json",
      "content-type": "application/json",
      ...authorization(),
    },
    body: JSON.stringify(operation),
  });
}

/** Whether the server takes the present login or token; throws when it cannot be reached. */
export async function isSignedIn(): Promise<boolean> {
  return (await post({ query: "{ __typename }" })).status !== 401;
}
