// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { WebhookSection } from "./WebhookSection.tsx";

afterEach(cleanup);

const WEBHOOK = { preset: "GITHUB", events: [], url: "https://pack.test/hooks/x", previousSecretUntil: null } as const;

async function section(rotated: unknown, may = true) {
  return show(
    <WebhookSection trigger={{ id: "trig_1", name: "Pushes" }} webhook={{ ...WEBHOOK, events: [] }} may={may} />,
    { RotateWebhookSecret: { rotateWebhookSecret: rotated } },
  );
}

test("a rotated secret shows until it is done with", async () => {
  const { asked } = await section({ __typename: "WebhookSecretSuccess", secret: "s3cr3t-once", trigger: null });
  await userEvent.click(screen.getByRole("button", { name: "Rotate…" }));
  await userEvent.selectOptions(screen.getByLabelText("Keep the current secret valid"), "1 hour");
  await userEvent.click(screen.getByRole("button", { name: "Rotate the secret" }));
  expect(await screen.findByText("s3cr3t-once")).toBeVisible();
  expect(asked.at(-1)?.variables).toEqual({ id: "trig_1", secret: null, overlapSeconds: 3600 });
  expect(screen.getByRole("region", { name: "New secret" })).toHaveFocus();
  await userEvent.click(screen.getByRole("button", { name: "Done" }));
  expect(screen.queryByText("s3cr3t-once")).toBeNull();
});

test("a secret that is refused is reported at its field, and the dialog stays open", async () => {
  const refused = { message: "The secret cannot be used.", code: "INVALID", retryable: false, hintParts: null };
  const issues = [{ path: ["secret"], rule: "out_of_range", severity: "ERROR", message: "Use 16.", hint: null }];
  await section({ __typename: "InvalidProblem", ...refused, issues });
  await userEvent.click(screen.getByRole("button", { name: "Rotate…" }));
  await userEvent.type(screen.getByLabelText(/^Secret/), "short");
  await userEvent.click(screen.getByRole("button", { name: "Rotate the secret" }));
  expect(await screen.findByText("Use 16.")).toBeVisible();
  expect(screen.getByLabelText(/^Secret/)).toBeInvalid();
});

test("who may not change the trigger cannot rotate its secret", async () => {
  await section(null, false);
  expect(screen.getByText("https://pack.test/hooks/x")).toBeVisible();
  expect(screen.queryByRole("button", { name: "Rotate…" })).toBeNull();
});
