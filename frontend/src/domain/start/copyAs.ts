// The start of a run as GraphQL, curl, CLI, MCP call or prompt: each does the same as the form's button.

export type Target = { pipeline: string } | { pack: string };
export type Form = "GraphQL" | "curl" | "MCP call" | "CLI" | "Agent prompt";
export const FORMS: readonly Form[] = ["GraphQL", "curl", "MCP call", "CLI", "Agent prompt"];

/** What a start is given. */
export interface Given {
  inputs: Readonly<Record<string, unknown>>;
  /**
   * Inputs whose values came from memory, as the server names them: the run then says so, and does not learn from
   * itself.
   */
  fromMemory: readonly string[];
  /** Profile for its agent steps; none uses the steps' own. */
  agent?: string | undefined;
}

/** The form's start, ready to be sent with a token. */
export function copyAs(form: Form, target: Target, given: Given, origin: string): string {
  const { inputs, fromMemory, agent } = given;
  const request = requestOf(target, given);
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
      return JSON.stringify(
        {
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: toolOf(target), arguments: argumentsOf(target, given) },
        },
        null,
        2,
      );
    case "CLI":
      return [
        `packline run ${quoted(nameOf(target))}`,
        ...(agent === undefined ? [] : [`  --agent ${quoted(agent)}`]),
        ...Object.entries(inputs).map(([name, value]) => `  --input ${quoted(pair(name, value))}`),
        // Its value is given above: this says where it came from, so that the run does not teach memory what it learned
        // there.
        ...fromMemory.map((field) => `  --from-memory ${field.toLowerCase()}`),
      ].join(" \\\n");
    case "Agent prompt":
      return [
        `Run the Packline ${"pipeline" in target ? "pipeline" : "pack"} "${nameOf(target)}" with the tool ${toolOf(target)}.`,
        Object.keys(inputs).length === 0 ? "It has no inputs." : `Its inputs:\n${JSON.stringify(inputs, null, 2)}`,
        ...(fromMemory.length === 0
          ? []
          : [
              `Of these, memory filled in ${fromMemory.map((field) => field.toLowerCase()).join(", ")}: pass from_memory ${JSON.stringify(fromMemory)}.`,
            ]),
        ...(agent === undefined ? [] : [`Its agent steps use the profile "${agent}": pass it as agent.`]),
        "Wait for the run to end. If it fails, tell me the failure's message and hint, and ask before you resume it.",
      ].join("\n\n");
    default:
      return form satisfies never;
  }
}

/** Arguments besides the target and its inputs, as the API declares them. */
const OPTIONS = { fromMemory: "[LearnedField!]", agent: "String" } as const;

function requestOf(
  target: Target,
  { inputs, fromMemory, agent }: Given,
): { query: string; variables: Record<string, unknown> } {
  const [field, named, values] =
    "pipeline" in target ? (["runPipeline", "pipeline", "inputs"] as const) : (["runPack", "pack", "input"] as const);
  const options = { ...(fromMemory.length === 0 ? {} : { fromMemory }), ...(agent === undefined ? {} : { agent }) };
  const types = {
    [named]: "ID!",
    [values]: "JSON!",
    ...Object.fromEntries(Object.keys(options).map((name) => [name, OPTIONS[name as keyof typeof OPTIONS]])),
  };
  const declared = Object.entries(types).map(([name, type]) => `$${name}: ${type}`);
  const passed = Object.keys(types).map((name) => `${name}: $${name}`);
  return {
    query: `mutation Run(${declared.join(", ")}) {\n  ${field}(${passed.join(", ")}) {\n    __typename\n    ... on StartRunSuccess { run { id state } }\n    ... on Problem { message hint }\n  }\n}`,
    variables: { [named]: nameOf(target), [values]: inputs, ...options },
  };
}

function argumentsOf(target: Target, { inputs, fromMemory, agent }: Given): Record<string, unknown> {
  const options = {
    ...(fromMemory.length === 0 ? {} : { from_memory: fromMemory }),
    ...(agent === undefined ? {} : { agent }),
  };
  return "pipeline" in target
    ? { pipeline: target.pipeline, inputs, ...options }
    : { pack: target.pack, input: inputs, ...options };
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
