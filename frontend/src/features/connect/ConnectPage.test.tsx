// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { ConnectPage } from "./ConnectPage.tsx";
import { connectSearch } from "./search.ts";

afterEach(cleanup);

const CODEX = {
  key: "codex",
  name: "Codex",
  check: "codex mcp list",
  setups: [{ transport: "HTTP", path: "~/.codex/config.toml", text: "[mcp_servers.packline]", command: null }],
};

async function page(scopes: readonly string[]) {
  await show(
    <ConnectPage />,
    { AgentClients: { viewer: { id: "call_1", scopes }, agentClients: [CODEX] } },
    { path: "/connect", at: "/connect?client=codex", search: connectSearch },
  );
  await screen.findByText("[mcp_servers.packline]");
}

test("who may not make tokens is offered the address alone, and whom to ask", async () => {
  await page(["READ", "RUN"]);
  expect(screen.queryByRole("button", { name: "Make a token" })).toBeNull();
  expect(screen.getByText(`${location.origin}/mcp`)).toBeVisible();
  expect(screen.getByText(/opens your browser to sign in/)).toBeVisible();
  expect(screen.getByText(/ask an administrator for a token/)).toBeVisible();
  expect(screen.getByText("manage")).toBeVisible();
});

test("who manages makes the program's token here", async () => {
  await page(["READ", "RUN", "MANAGE"]);
  expect(screen.getByRole("button", { name: "Make a token" })).toBeVisible();
  expect(screen.queryByText(/ask an administrator/)).toBeNull();
});
