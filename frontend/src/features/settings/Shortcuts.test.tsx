// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, render, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test } from "vitest";

import { shortcutsOn } from "../../lib/browser/shortcutsSetting.ts";
import { Shortcuts } from "./Shortcuts.tsx";

afterEach(() => {
  cleanup();
  localStorage.clear();
});

test("single keys are switched off and on, and stay so in this browser", async () => {
  const { unmount } = render(<Shortcuts />);
  await userEvent.click(screen.getByRole("checkbox", { name: /^Single-key shortcuts/ }));
  expect(shortcutsOn()).toBe(false);
  unmount();
  render(<Shortcuts />);
  expect(screen.getByRole("checkbox", { name: /^Single-key shortcuts/ })).not.toBeChecked();
  await userEvent.click(screen.getByRole("checkbox", { name: /^Single-key shortcuts/ }));
  expect(shortcutsOn()).toBe(true);
});
