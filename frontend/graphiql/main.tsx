import "graphiql/setup-workers/vite";
import "graphiql/style.css";
import "./style.css";

import { GraphiQL } from "graphiql";
import { type FormEvent, StrictMode, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";

import { createFetcher } from "./fetcher.ts";
import { isSignedIn, keepToken, token } from "./session.ts";

const FIRST_QUERY = `# Packline's whole API. Ctrl-Space suggests, Ctrl-Enter runs, the book on the left explains.
{
  __typename
}
`;

type SignIn = "asking" | "in" | "out" | "unreachable";

function Page() {
  const [state, setState] = useState<SignIn>("asking");
  const fetcher = useMemo(() => createFetcher(() => setState("out")), []);
  useEffect(() => {
    isSignedIn().then(
      (signedIn) => setState(signedIn ? "in" : "out"),
      () => setState("unreachable"),
    );
  }, []);
  switch (state) {
    case "asking":
      return null;
    case "unreachable":
      return <p className="packline-sign-in">The server does not answer. Start it and load this page again.</p>;
    case "out":
      return <TokenForm onSignedIn={() => setState("in")} />;
    case "in":
      return (
        <GraphiQL fetcher={fetcher} defaultQuery={FIRST_QUERY} isHeadersEditorEnabled={false}>
          <GraphiQL.Logo>
            <span>Packline</span>
            {token() !== null && (
              <button
                type="button"
                className="graphiql-un-styled packline-sign-out"
                onClick={() => {
                  keepToken(null);
                  setState("out");
                }}
              >
                Forget token
              </button>
            )}
          </GraphiQL.Logo>
        </GraphiQL>
      );
  }
}

function TokenForm({ onSignedIn }: { onSignedIn: () => void }) {
  const [problem, setProblem] = useState<string | null>(
    token() === null ? null : "The token is not valid, or no longer.",
  );
  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get("token");
    keepToken(typeof value === "string" && value.trim() !== "" ? value.trim() : null);
    try {
      if (await isSignedIn()) {
        onSignedIn();
      } else {
        setProblem("The server does not take this token. Make one with `packline token create`.");
      }
    } catch {
      setProblem("The server does not answer.");
    }
  }
  return (
    <form className="packline-sign-in" onSubmit={(event) => void submit(event)}>
      <h1>Packline API</h1>
      <label htmlFor="token">
        Token, kept for this tab only. Signed in to Packline in this browser? Then load this page again.
      </label>
      <input id="token" name="token" type="password" autoComplete="off" autoFocus required />
      <button type="submit">Go on</button>
      <p role="alert">{problem}</p>
    </form>
  );
}

const root = document.getElementById("root");
if (root === null) {
  throw new Error("index.html has no #root");
}
createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
