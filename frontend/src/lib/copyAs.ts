// A start of a run as others would ask for it: each text does the same as the button of the form.

export type Target = { pipeline: string } | { pack: string };
export type Form = "GraphQL" | "curl" | "MCP call" | "CLI" | "Agent prompt";
export const FORMS: readonly Form[] = ["GraphQL", "curl", "MCP call", "CLI", "Agent prompt"];

type Inputs = Readonly<Record<string, unknown>>;

/** What a form says, ready to be sent by whoever has a token. */
export function copyAs(form: Form, target: Target, inputs: Inputs, origin: string): string {
  const request = requestOf(target, inputs);
  switch (form) {
    case "GraphQL":
      return `${request.query}\n\n# Variables\n${JSON.stringify(request.variables, null, 2)}`;
    case "curl":
      return [
        `curl -sS ${quoted(`${origin}/graphql`)} \\`,
        `  -H "authorization: Bearer $PACKLINE_TOKEN" \\`,
        `  -H 'content-type: application/json' \\`,
        `  --data-raw ${quoted(JSON.stringify({ query: request.query.replaceAll(/\s+/g, " "), variables: request.variables }))}`,
      ].join("\n");
    case "MCP call":
      return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: toolOf(target), arguments: request.variables } }, null, 2);
    case "CLI":
      return [`packline run ${quoted(nameOf(target))}`, ...Object.entries(inputs).map(([name, value]) => `  --input ${quoted(pair(name, value))}`)].join(" \\\n");
    case "Agent prompt":
      return [
        `Run the Packline ${"pipeline" in target ? "pipeline" : "pack"} "${nameOf(target)}" with the tool ${toolOf(target)}.`,
        Object.keys(inputs).length === 0 ? "It gets no inputs." : `Its inputs:\n${JSON.stringify(inputs, null, 2)}`,
        "Wait for the run to end. If it fails, tell me the failure's message and hint, and ask before you resume it.",
      ].join("\n\n");
    default:
      return form satisfies never;
  }
}

function requestOf(target: Target, inputs: Inputs): { query: string; variables: Record<string, unknown> } {
  const told = "    __typename\n    ... on StartRunSuccess { run { id state } }\n    ... on Problem { message hint }";
  return "pipeline" in target
    ? {
        query: `mutation Run($pipeline: ID!, $inputs: JSON!) {\n  runPipeline(pipeline: $pipeline, inputs: $inputs) {\n${told}\n  }\n}`,
        variables: { pipeline: target.pipeline, inputs },
      }
    : { query: `mutation Run($pack: ID!, $input: JSON!) {\n  runPack(pack: $pack, input: $input) {\n${told}\n  }\n}`, variables: { pack: target.pack, input: inputs } };
}

function toolOf(target: Target): string {
  return "pipeline" in target ? "run_pipeline" : "run_pack";
}

function nameOf(target: Target): string {
  return "pipeline" in target ? target.pipeline : target.pack;
}

/** One input on the command line: a text as it is, with its first @ doubled, everything else as JSON. */
function pair(name: string, value: unknown): string {
  if (typeof value !== "string") return `${name}:=${JSON.stringify(value)}`;
  return `${name}=${value.startsWith("@") ? `@${value}` : value}`;
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
