// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { refusalOf } from "./refusal.ts";
import type { Draft, Refusal } from "./TriggerForm.tsx";
import { eventsOf, WebhookForm, type WebhookSettings } from "./WebhookForm.tsx";

afterEach(cleanup);

const SCHEMA = { type: "object", properties: { secret: { type: "string" } }, required: ["secret"] };

type Save = (draft: Draft<WebhookSettings>) => Promise<Refusal | null>;

async function form(onSave: Save, webhook: { preset: "BEARER"; events: string[] } | null = null): Promise<void> {
  await show(
    <WebhookForm
      inputSchema={SCHEMA}
      name={webhook === null ? "" : "Builds"}
      webhook={webhook}
      inputs={webhook === null ? undefined : { secret: "tea" }}
      word="Add"
      onCancel={() => undefined}
      onSave={onSave}
    />,
  );
}

const issue = (path: string[], message: string) => ({ path, message, hint: null });
const add = () => userEvent.click(screen.getByRole("button", { name: "Add" }));
/** The input of the pipeline; the secret of the webhook is a password field, which has no role. */
const input = () => screen.getByRole("textbox", { name: "Secret" });
const events = () => screen.getByRole("textbox", { name: /^Events/ });

test("a webhook is called after its sender, and its inputs may read the payload", async () => {
  const onSave = vi.fn<Save>(async () => null);
  await form(onSave);
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Sender" }), "Standard Webhooks");
  await userEvent.type(events(), "user.created\n\n user.deleted \nuser.created");
  await userEvent.type(input(), "${{{{ trigger.event }}");
  await add();
  expect(onSave).toHaveBeenCalledWith(
    {
      name: "Webhook · Standard Webhooks",
      settings: { preset: "STANDARD_WEBHOOKS", events: ["user.created", "user.deleted"], secret: null },
      inputs: { secret: "${{ trigger.event }}" },
    },
    ["secret"],
  );
});

test("the sender explains how it signs and which events count", async () => {
  await form(async () => null);
  const sender = screen.getByRole("combobox", { name: "Sender" });
  expect(sender).toHaveAccessibleDescription(/X-Hub-Signature-256/);
  expect(events()).toHaveAccessibleDescription(/all but ping/);
  await userEvent.selectOptions(sender, "Bearer secret");
  expect(sender).toHaveAccessibleDescription(/Authorization: Bearer/);
  expect(events()).toHaveAccessibleDescription(/X-Event/);
});

test("problems of an input called secret and of the secret of the webhook show apart", async () => {
  const refused = {
    message: "The trigger cannot be saved.",
    issues: [
      issue(["inputs", "secret"], "It is no colour."),
      issue(["secret"], "It is too short."),
      issue(["webhook", "events", "0"], "It is too long."),
    ],
  };
  await form(async () => refusalOf(undefined, refused, ["secret"]));
  await userEvent.type(input(), "t");
  await userEvent.type(screen.getByLabelText(/^Secret · optional/), "short");
  await add();
  expect(input()).toHaveAccessibleDescription(/no colour/);
  expect(input()).not.toHaveAccessibleDescription(/too short/);
  expect(screen.getByLabelText(/^Secret · optional/)).toHaveAccessibleDescription(/too short/);
  expect(events()).toHaveAccessibleDescription(/too long/);
});

test("an edit offers neither another sender nor a secret", async () => {
  const onSave = vi.fn<Save>(async () => null);
  await form(onSave, { preset: "BEARER", events: ["a, b", "c"] });
  expect(screen.queryByRole("combobox", { name: "Sender" })).toBeNull();
  expect(screen.queryByLabelText(/^Secret · optional/)).toBeNull();
  await add();
  const settings = { preset: "BEARER", events: ["a, b", "c"], secret: null };
  expect(onSave).toHaveBeenCalledWith({ name: "Builds", settings, inputs: { secret: "tea" } }, ["secret"]);
});

test("no events are none, not one without a name", () => {
  expect(eventsOf(" \n\n")).toEqual([]);
});
