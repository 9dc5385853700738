import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { CopyButton } from "../../components/CopyButton.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { BASE } from "../../lib/server/base.ts";
import { FirstCall } from "./FirstCall.tsx";
import { type MadeToken, TokenForm } from "./TokenForm.tsx";
import { AgentClientsDocument, type AgentClientsQuery } from "./connect.generated.ts";

type Client = AgentClientsQuery["agentClients"][number];

const route = getRouteApi("/connect");
/** Placeholder for the token, which is never sent to the server again. */
const PLACE = "pkl_placeholder";

export function ConnectPage(): ReactNode {
  const { client: key, way } = route.useSearch();
  const navigate = useNavigate();
  const [tokens, setTokens] = useState<Record<string, MadeToken>>({});
  const chosenToken = key === undefined ? undefined : tokens[key];
  const variables = {
    serverUrl: `${window.location.origin}${BASE}`,
    token: chosenToken === undefined ? null : PLACE,
    author: chosenToken?.author ?? false,
  };
  const [{ data, fetching, error }] = useQuery({ query: AgentClientsDocument, variables });
  if (data === undefined)
    return (
      <LoadingOrProblem
        page="Connect"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  const client = data.agentClients.find((one) => one.key === key);
  return (
    <Page title="Connect an agent" lead="Let an agent find, run and resume pipelines here. Setup takes a minute.">
      <Section title="1. Choose your agent">
        <div role="group" aria-label="Program" className="flex flex-wrap gap-2 py-2">
          {data.agentClients.map((one) => (
            <button
              key={one.key}
              type="button"
              aria-pressed={one.key === key}
              onClick={() => void navigate({ to: "/connect", search: { client: one.key, way }, replace: true })}
              className={`rounded border px-3 py-2 font-medium pointer-coarse:min-h-11 ${one.key === key ? "border-accent bg-accent-tint text-accent" : "border-control hover:bg-hover"}`}
            >
              {one.name}
            </button>
          ))}
        </div>
      </Section>
      {client === undefined ? null : (
        <Chosen
          key={client.key}
          client={client}
          stdio={way === "stdio"}
          address={`${variables.serverUrl}/mcp`}
          mayMake={data.viewer.scopes.includes("MANAGE")}
          token={tokens[client.key]}
          onToken={(token) => setTokens((known) => ({ ...known, [client.key]: token }))}
          onWay={(stdio) =>
            void navigate({ to: "/connect", search: { client: key, way: stdio ? "stdio" : undefined }, replace: true })
          }
        />
      )}
    </Page>
  );
}

interface ChosenProps {
  client: Client;
  stdio: boolean;
  /** Of the MCP server. */
  address: string;
  /** Whether the viewer may make tokens. */
  mayMake: boolean;
  token: MadeToken | undefined;
  onToken: (token: MadeToken) => void;
  onWay: (stdio: boolean) => void;
}

function Chosen({ client, stdio, address, mayMake, token, onToken, onWay }: ChosenProps): ReactNode {
  const setup = client.setups.find((one) => one.transport === (stdio ? "STDIO" : "HTTP"));
  if (setup === undefined) return null;
  const filled = (text: string): string => (token === undefined ? text : text.replaceAll(PLACE, token.plaintext));
  return (
    <>
      {mayMake ? (
        <Section title="2. Make a token for it">
          <TokenForm key={client.key} subject={client.key} name={client.name} made={token} onMade={onToken} />
        </Section>
      ) : (
        <Section title="2. Let it sign in">
          <p className="py-1 text-soft">
            With single sign-on, a program that speaks OAuth needs no token: give it the address alone, and it opens
            your browser to sign in.
          </p>
          <Snippet label="address" what="the address" text={address} />
          <p className="text-dense text-soft">
            Without single sign-on, ask an administrator for a token, and follow the next step. To make tokens yourself,
            ask for the scope <code>manage</code>.
          </p>
        </Section>
      )}
      <Section title="3. Configure it">
        <label className="my-2 flex items-center gap-2 text-dense">
          <input type="checkbox" checked={stdio} onChange={(event) => onWay(event.target.checked)} />
          <span>
            The program starts <code>packline mcp</code> on its own machine instead of calling over HTTP
          </span>
        </label>
        <Snippet label={setup.path} what={`the configuration of ${client.name}`} text={filled(setup.text)} />
        {setup.command === null ? null : (
          <Snippet label="or, in a shell" what="the command" text={filled(setup.command)} />
        )}
        {token === undefined ? (
          <p className="text-dense text-soft">
            Without its own token, {client.name} reads one from the variable <code>PACKLINE_TOKEN</code>.
          </p>
        ) : null}
        <p className="text-dense text-soft">
          Merge it with what is in the file, and restart {client.name}. On this server&apos;s machine,{" "}
          <code>packline connect {client.key} --make-token --write</code> does all of these steps.
        </p>
      </Section>
      <Section title="4. Check the connection">
        {token === undefined ? (
          <p className="py-1 text-soft">
            <code>{client.check}</code> shows whether {client.name} has reached the server.
            {mayMake ? " With a token made here, this page waits for the first call." : null}
          </p>
        ) : (
          <FirstCall tokenId={token.id} client={client.name} check={client.check} />
        )}
      </Section>
    </>
  );
}

function Snippet({ label, what, text }: { label: string; what: string; text: string }): ReactNode {
  return (
    <figure className="my-3">
      <figcaption className="flex items-baseline justify-between gap-4 text-dense">
        <span className="font-mono text-soft wrap-anywhere">{label}</span>
        <CopyButton text={text} what={what} />
      </figcaption>
      <pre className="mt-1 rounded border border-line bg-panel p-3 font-mono text-dense wrap-anywhere whitespace-pre-wrap">
        {text}
      </pre>
    </figure>
  );
}
