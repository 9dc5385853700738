// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { type Answers, show } from "../../testing/show.tsx";
import { type Made, TokenForm } from "./TokenForm.tsx";
import type { Scope } from "./tokens.generated.ts";

afterEach(cleanup);

const MADE = {
  createToken: {
    __typename: "CreateTokenSuccess",
    plaintext: "pkl_once",
    token: {
      id: "token_1",
      name: "Laptop",
      beginning: "pkl_on",
      scopes: ["READ"],
      createdAt: "",
      expiresAt: null,
      lastUsedAt: null,
      revokedAt: null,
      caller: { id: "caller_1", name: "Ada" },
    },
  },
};

async function form(
  answers: Answers = { CreateToken: MADE },
  scopes: readonly Scope[] = ["READ", "OBSERVE", "RUN", "WRITE", "MANAGE"],
) {
  const [onMade, onCancel] = [vi.fn<(made: Made) => void>(), vi.fn<() => void>()];
  const shown = await show(
    <TokenForm viewer={{ name: "Ada", subject: "ada", scopes }} onMade={onMade} onCancel={onCancel} />,
    answers,
  );
  await screen.findByRole("textbox", { name: "Name" });
  return { ...shown, onMade, onCancel };
}

test("a token is made with scopes and a lifetime, and shown once", async () => {
  const { onMade, asked } = await form();
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "Laptop");
  await userEvent.click(screen.getByRole("checkbox", { name: /^run/ }));
  await userEvent.click(screen.getByRole("checkbox", { name: /^observe/ }));
  await userEvent.click(screen.getByRole("button", { name: "Create the token" }));
  await waitFor(() => expect(onMade).toHaveBeenCalledWith({ name: "Laptop", plaintext: "pkl_once" }));
  expect(asked.at(-1)?.variables).toMatchObject({
    name: "Laptop",
    scopes: ["READ", "OBSERVE"],
    subject: null,
  });
});

test("nobody gives away more than they have", async () => {
  await form(undefined, ["READ", "RUN"]);
  expect(screen.getByRole("checkbox", { name: /^manage/ })).toBeDisabled();
  expect(screen.getByRole("checkbox", { name: /^run/ })).toBeEnabled();
});

test("what the server refuses is shown at its field", async () => {
  const issues = [{ path: ["name"], rule: "required", severity: "ERROR", message: "Give it a name.", hint: null }];
  const { onMade, onCancel } = await form({
    CreateToken: {
      createToken: {
        __typename: "InvalidProblem",
        message: "It cannot be made.",
        code: "INVALID",
        hintParts: null,
        retryable: false,
        issues,
      },
    },
  });
  await userEvent.click(screen.getByRole("button", { name: "Create the token" }));
  const name = screen.getByRole("textbox", { name: "Name" });
  await waitFor(() => expect(name).toBeInvalid());
  expect(name).toHaveAccessibleDescription(/Give it a name\./);
  expect(onMade).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(onCancel).toHaveBeenCalledOnce();
});
