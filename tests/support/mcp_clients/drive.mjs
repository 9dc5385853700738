// Drives an MCP client of the TypeScript SDKs, one command a line on stdin, one answer a line on stdout.
//
//   node drive.mjs '{"sdk": 1, "url": "http://…/mcp", "headers": {…}}'
//   node drive.mjs '{"sdk": 2, "mode": "auto", "command": ["packline", "mcp"], "env": {…}}'
//
// Commands: {"id": 1, "do": "tools"}, {"id": 2, "do": "call", "params": {"name": …, "arguments": {…}}}, "resources",
// "templates", "read", "close". Answers: {"id": 1, "result": …} or {"id": 1, "error": {"code": …, "message": …}}.

import { createInterface } from "node:readline";

const wanted = JSON.parse(process.argv[2]);
const info = { name: `typescript-sdk-${wanted.sdk}`, version: "1" };

async function parts() {
  if (wanted.sdk === 1) {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const http = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const stdio = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return { client: new Client(info, { capabilities: {} }), ...http, ...stdio };
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(info, { capabilities: {}, versionNegotiation: { mode: wanted.mode ?? "legacy" } });
  return { client, StreamableHTTPClientTransport, StdioClientTransport };
}

const { client, StreamableHTTPClientTransport, StdioClientTransport } = await parts();
const transport =
  wanted.url === undefined
    ? new StdioClientTransport({ command: wanted.command[0], args: wanted.command.slice(1), env: wanted.env, stderr: "inherit" })
    : new StreamableHTTPClientTransport(new URL(wanted.url), { requestInit: { headers: wanted.headers } });
const progress = [];

const does = {
  tools: () => client.listTools(),
  call: (params) => {
    const options = { timeout: 70_000, onprogress: (told) => progress.push(told) };
    return wanted.sdk === 1 ? client.callTool(params, undefined, options) : client.callTool(params, options);
  },
  resources: () => client.listResources(),
  templates: () => client.listResourceTemplates(),
  read: (params) => client.readResource(params),
  about: async () => ({
    server: client.getServerVersion(),
    capabilities: client.getServerCapabilities(),
    instructions: client.getInstructions(),
    version: client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion,
  }),
  progress: async () => progress,
  close: () => client.close(),
};

function answer(told) {
  process.stdout.write(`${JSON.stringify(told)}\n`);
}

async function obey({ id, do: what, params }) {
  try {
    answer({ id, result: (await does[what](params)) ?? null });
  } catch (error) {
    answer({ id, error: { code: error.code ?? null, message: String(error.message), name: error.name } });
  }
}

try {
  await client.connect(transport, { timeout: 90_000 });
  answer({ id: 0, result: "connected" });
} catch (error) {
  answer({ id: 0, error: { code: error.code ?? null, message: String(error.message), name: error.name } });
}
for await (const line of createInterface({ input: process.stdin })) void obey(JSON.parse(line));
await client.close();
