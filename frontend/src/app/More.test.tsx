// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { show } from "../testing/show.tsx";
import { More } from "./More.tsx";

afterEach(cleanup);
// The theme follows the system, which a simulated browser is asked about.
beforeEach(() => void vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => undefined })));

const MORE = <More look="" here="" name="Ada" version="1.2.3" />;

test("what a phone's bar has no room for opens, leads on and closes again", async () => {
  const { history } = await show(MORE, {}, { path: "/runs" });
  const button = await screen.findByRole("button", { name: "More" });
  expect(button).not.toHaveAttribute("aria-current");
  expect(button).toHaveAttribute("aria-expanded", "false");
  await userEvent.click(button);
  expect(button).toHaveAttribute("aria-expanded", "true");
  const sheet = screen.getByRole("dialog", { name: "More" });
  expect(
    within(sheet)
      .getAllByRole("link")
      .map(({ textContent }) => textContent),
  ).toEqual(["Artifacts", "Connect", "Settings", "Triggers", "Memory", "Proposals", "Credentials", "Tokens", "Audit"]);
  expect(within(sheet).getByText("Ada · 1.2.3")).toBeVisible();
  await userEvent.click(within(sheet).getByRole("link", { name: "Tokens" }));
  expect(history.location.pathname).toBe("/tokens");
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("the page that is open behind it is marked on the button and in the sheet", async () => {
  await show(MORE, {}, { path: "/credentials/$credential", at: "/credentials/cred_1" });
  const button = await screen.findByRole("button", { name: /^More.*Credentials is open$/ });
  expect(button).toHaveAttribute("aria-current", "true");
  await userEvent.click(button);
  expect(screen.getByRole("link", { name: "Credentials" })).toHaveAttribute("aria-current", "page");
  expect(screen.getByRole("link", { name: "Settings" })).not.toHaveAttribute("aria-current");
});
