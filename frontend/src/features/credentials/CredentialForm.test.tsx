// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { type Answers, show } from "../../testing/show.tsx";
import { CredentialForm } from "./CredentialForm.tsx";
import type { CredentialKindPartsFragment } from "./credentials.generated.ts";

afterEach(cleanup);

const KINDS: CredentialKindPartsFragment[] = [
  { name: "generic", description: "Anything.", freeFields: true, testable: false, fields: [] },
  {
    name: "github",
    description: "A token of GitHub.",
    freeFields: false,
    testable: true,
    fields: [
      { name: "token", description: "From its settings.", secret: true, required: true, multiline: false },
      {
        name: "host",
        description: "Another server than github.com.",
        secret: false,
        required: false,
        multiline: false,
      },
    ],
  },
  {
    name: "ssh",
    description: "A key.",
    freeFields: false,
    testable: false,
    fields: [{ name: "private_key", description: "Its file.", secret: true, required: true, multiline: true }],
  },
];

function stored(neededBy: { id: string; name: string }[] = []) {
  const credential = {
    id: "cred_1",
    key: "github",
    kind: "github",
    description: null,
    fieldsSet: ["token"],
    fingerprint: "ab12",
    createdAt: "",
    updatedAt: "",
    expiresAt: null,
    lastUsedAt: null,
    readable: true,
    lastTest: null,
    neededBy,
    grants: [],
  };
  return { setCredential: { __typename: "CredentialSuccess", credential } };
}

async function form(answers: Answers, need?: string) {
  const [onStored, onCancel] = [vi.fn<(id: string) => void>(), vi.fn<() => void>()];
  const shown = await show(
    <CredentialForm kinds={KINDS} need={need} onStored={onStored} onCancel={onCancel} />,
    answers,
  );
  await screen.findByRole("textbox", { name: "Name" });
  const sent = () => shown.asked.filter(({ name }) => name === "SetCredential").map(({ variables }) => variables);
  return { ...shown, onStored, onCancel, sent };
}

test("what is needed is filled in, secrets are never shown, and it is shared with those that ask for it", async () => {
  const { onStored, sent } = await form(
    { SetCredential: stored([{ id: "github.open_pr", name: "github.open_pr" }]) },
    "github",
  );
  expect(screen.getByRole("textbox", { name: "Name" })).toHaveValue("github");
  expect(screen.getByRole("combobox", { name: "Kind" })).toHaveDisplayValue("github");
  const token = screen.getByLabelText("Token");
  expect(token).toHaveAttribute("type", "password");
  await userEvent.type(token, "correct-horse");
  await userEvent.click(screen.getByRole("button", { name: "Store the credential" }));
  await waitFor(() => expect(onStored).toHaveBeenCalledWith("cred_1"));
  expect(sent()).toEqual([
    { key: "github", kind: "github", fields: { token: "correct-horse" } },
    { key: "github", kind: "github", addGrants: ["github.open_pr"] },
  ]);
});

test("without the wish to share nobody is given it", async () => {
  const { onStored, sent } = await form(
    { SetCredential: stored([{ id: "github.open_pr", name: "github.open_pr" }]) },
    "github",
  );
  await userEvent.type(screen.getByLabelText("Token"), "correct-horse");
  await userEvent.click(screen.getByRole("checkbox", { name: /Share it with the packs/ }));
  await userEvent.click(screen.getByRole("button", { name: "Store the credential" }));
  await waitFor(() => expect(onStored).toHaveBeenCalledOnce());
  expect(sent()).toHaveLength(1);
});

test("a key file keeps its lines and is not legible", async () => {
  const { onStored, sent } = await form({ SetCredential: stored() }, "ssh");
  const key = screen.getByRole("textbox", { name: "Private key" });
  expect(key).toHaveClass("[-webkit-text-security:disc]");
  await userEvent.click(key);
  await userEvent.paste("first line\nsecond line\n");
  await userEvent.click(screen.getByRole("button", { name: "Store the credential" }));
  await waitFor(() => expect(onStored).toHaveBeenCalledOnce());
  expect(sent()[0]).toEqual({ key: "ssh", kind: "ssh", fields: { private_key: "first line\nsecond line\n" } });
});

test("a kind of one's own has fields of one's own", async () => {
  const { sent } = await form({ SetCredential: stored() });
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Kind" }), "generic");
  await userEvent.type(screen.getByRole("textbox", { name: "Name" }), "shop");
  await userEvent.type(screen.getByRole("textbox", { name: "Name of field 1" }), "user");
  await userEvent.type(screen.getByLabelText("Value of field 1"), "ada-lovelace");
  await userEvent.click(screen.getByRole("button", { name: "Another field" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Name of field 2" }), "key");
  await userEvent.type(screen.getByLabelText("Value of field 2"), "correct-horse");
  await userEvent.click(screen.getByRole("button", { name: "Store the credential" }));
  await waitFor(() =>
    expect(sent()).toEqual([{ key: "shop", kind: "generic", fields: { user: "ada-lovelace", key: "correct-horse" } }]),
  );
});

test("what the server refuses is shown at its field, and what was typed stays", async () => {
  const issues = [{ path: ["key"], rule: "pattern", severity: "ERROR", message: "A name has no spaces.", hint: null }];
  const { onStored, onCancel } = await form({
    SetCredential: {
      setCredential: {
        __typename: "InvalidProblem",
        message: "It cannot be stored.",
        code: "INVALID",
        hintParts: null,
        retryable: false,
        issues,
      },
    },
  });
  const name = screen.getByRole("textbox", { name: "Name" });
  await userEvent.type(name, "my key");
  await userEvent.click(screen.getByRole("button", { name: "Store the credential" }));
  await waitFor(() => expect(name).toBeInvalid());
  expect(name).toHaveAccessibleDescription(/A name has no spaces\./);
  expect(name).toHaveValue("my key");
  expect(onStored).not.toHaveBeenCalled();
  await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
  expect(onCancel).toHaveBeenCalledOnce();
});
