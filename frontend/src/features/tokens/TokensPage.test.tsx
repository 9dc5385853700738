// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { type Answers, show } from "../../testing/show.tsx";
import { TokensPage } from "./TokensPage.tsx";

afterEach(cleanup);

const PAGE = { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null };
const ME = { id: "call_1", name: "Ada", subject: "ada", scopes: ["MANAGE"] };

function caller(id: string, name: string, disabledAt: string | null = null) {
  const subject = name.toLowerCase();
  return {
    id,
    name,
    subject,
    lastSeenAt: null,
    disabledAt,
    fromProvider: false,
    scopes: [],
    tokens: { nodes: [], pageInfo: PAGE },
  };
}

async function page(answers: Answers = {}) {
  const nodes = [caller("call_1", "Ada"), caller("call_2", "Bob"), caller("call_3", "Eve", "2026-11-01T12:00:00Z")];
  const shown = await show(
    <TokensPage />,
    { Tokens: { callers: { nodes, pageInfo: PAGE }, viewer: ME }, ...answers },
    { path: "/tokens" },
  );
  await screen.findByRole("heading", { name: "Bob" });
  return shown;
}

test("a caller is disabled after a question, and nobody disables themselves", async () => {
  const { asked } = await page({
    DisableCaller: {
      disableCaller: {
        __typename: "DisableCallerSuccess",
        caller: caller("call_2", "Bob", "2026-11-02T12:00:00Z"),
        tokensForOthers: [],
      },
    },
  });
  expect(screen.queryByRole("button", { name: "Disable Ada" })).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Disable Bob" }));
  expect(asked.map(({ name }) => name)).not.toContain("DisableCaller");
  await userEvent.click(screen.getByRole("button", { name: "Disable" }));
  await waitFor(() => expect(asked).toContainEqual({ name: "DisableCaller", variables: { caller: "call_2" } }));
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
});

test("tokens that a disabled caller made for others are listed, and leave the list when they are revoked", async () => {
  const times = { createdAt: "2026-11-01T12:00:00Z", expiresAt: null, lastUsedAt: null };
  const token = { id: "token_1", name: "Laptop", beginning: "pkl_on", scopes: ["READ"], ...times, madeBy: null };
  const bob = caller("call_2", "Bob", "2026-11-02T12:00:00Z");
  const given = { ...token, revokedAt: null, caller: { id: "call_4", name: "Carol" } };
  await page({
    DisableCaller: {
      disableCaller: { __typename: "DisableCallerSuccess", caller: bob, tokensForOthers: [given] },
    },
    RevokeToken: {
      revokeToken: { __typename: "RevokeTokenSuccess", token: { ...token, revokedAt: "2026-11-02T12:00:00Z" } },
    },
  });
  await userEvent.click(screen.getByRole("button", { name: "Disable Bob" }));
  await userEvent.click(screen.getByRole("button", { name: "Disable" }));
  const list = await screen.findByRole("table", { name: "Tokens that Bob made for others" });
  expect(list).toHaveTextContent("for Carol");
  await userEvent.click(screen.getByRole("button", { name: "Revoke Laptop" }));
  await userEvent.click(screen.getByRole("button", { name: "Revoke it" }));
  await waitFor(() => expect(screen.queryByRole("table", { name: "Tokens that Bob made for others" })).toBeNull());
});

test("what a token may is shown whole, and again as the title where the column is narrow", async () => {
  const scopes = ["READ", "OBSERVE", "RUN", "WRITE"];
  const times = { createdAt: "2026-11-01T12:00:00Z", expiresAt: null, lastUsedAt: null, revokedAt: null };
  const token = { id: "token_1", name: "Laptop", beginning: "pkl_on", scopes, ...times, caller: ME, madeBy: null };
  const ada = { ...caller("call_1", "Ada"), tokens: { nodes: [token], pageInfo: PAGE } };
  await page({ Tokens: { callers: { nodes: [ada, caller("call_2", "Bob")], pageInfo: PAGE }, viewer: ME } });
  const cell = screen.getByTitle("read, observe, run, write");
  expect(cell).toHaveTextContent("read, observe, run, write");
  expect(cell).not.toHaveClass("truncate");
});

test("a token that another caller made names it, and says when it is disabled", async () => {
  const times = { createdAt: "2026-11-01T12:00:00Z", expiresAt: null, lastUsedAt: null, revokedAt: null };
  const token = (id: string, madeBy: object | null) => {
    return { id, name: id, beginning: "pkl_on", scopes: ["READ"], ...times, caller: ME, madeBy };
  };
  const eve = { id: "call_3", name: "Eve", disabledAt: "2026-11-02T12:00:00Z" };
  const nodes = [token("Old", null), token("Own", { ...eve, id: "call_1", name: "Ada" }), token("Given", eve)];
  const ada = { ...caller("call_1", "Ada"), fromProvider: true, tokens: { nodes, pageInfo: PAGE } };
  await page({ Tokens: { callers: { nodes: [ada, caller("call_2", "Bob")], pageInfo: PAGE }, viewer: ME } });
  expect(screen.getAllByText(/^made by/).map((each) => each.textContent)).toEqual(["made by Eve (disabled)"]);
  expect(screen.getByText(/signs in at the provider/)).toBeVisible();
});

test("a disabled caller says so and is enabled at once; a refusal is shown", async () => {
  const { asked } = await page({
    EnableCaller: {
      enableCaller: {
        __typename: "NotFoundProblem",
        message: "There is no caller `call_3`.",
        code: "NOT_FOUND",
        hintParts: null,
        retryable: false,
      },
    },
  });
  expect(screen.getByText(/^disabled/)).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Enable Eve" }));
  expect(asked).toContainEqual({ name: "EnableCaller", variables: { caller: "call_3" } });
  expect(await screen.findByRole("alert")).toHaveTextContent("There is no caller call_3.");
});
