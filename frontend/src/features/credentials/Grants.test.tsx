// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import type { CredentialRowFragment } from "./credentials.generated.ts";
import { Grants } from "./Grants.tsx";

afterEach(cleanup);

const CREDENTIAL: CredentialRowFragment = {
  id: "cred_1",
  key: "github",
  kind: "github",
  description: "",
  fieldsSet: [],
  fingerprint: "ab12",
  createdAt: "",
  updatedAt: "",
  expiresAt: null,
  lastUsedAt: null,
  readable: true,
  lastTest: null,
  neededBy: [],
};

function choices(names: readonly string[], hasNextPage: boolean) {
  return {
    packs: { nodes: names.map((id) => ({ id })), pageInfo: { hasNextPage } },
    pipelines: { nodes: [], pageInfo: { hasNextPage: false } },
    callers: { nodes: [], pageInfo: { hasNextPage: false } },
  };
}

test("what one list does not hold is found by words, and shared with", async () => {
  const { asked } = await show(<Grants credential={{ ...CREDENTIAL, grants: [] }} />, {
    GrantChoices: ({ text }: { text: string | null }) =>
      text === null ? choices(["doc.parse"], true) : choices(["web.scrape"], false),
    SetCredential: { setCredential: { __typename: "CredentialSuccess", credential: { ...CREDENTIAL, grants: [] } } },
  });
  await userEvent.type(await screen.findByRole("searchbox", { name: "Search packs, pipelines and callers" }), "scrape");
  await screen.findByRole("option", { name: "web.scrape" });
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Share it with" }), "web.scrape");
  await userEvent.click(screen.getByRole("button", { name: "Share" }));
  await waitFor(() =>
    expect(asked.find(({ name }) => name === "SetCredential")?.variables).toMatchObject({
      addGrants: ["web.scrape"],
    }),
  );
});

test("a short list needs no search", async () => {
  await show(<Grants credential={{ ...CREDENTIAL, grants: [] }} />, { GrantChoices: choices(["doc.parse"], false) });
  await screen.findByRole("option", { name: "doc.parse" });
  expect(screen.queryByRole("searchbox")).toBeNull();
});
