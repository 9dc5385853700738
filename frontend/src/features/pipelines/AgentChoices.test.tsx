// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { AgentChoices } from "./AgentChoices.tsx";

afterEach(cleanup);

const PROFILES = [
  { key: "claude", model: "opus", availability: { usable: true } },
  { key: "codex", model: null, availability: { usable: false } },
];

test("any profile that can be used here may be chosen, and none leaves it to the steps", async () => {
  const onChoose = vi.fn<(agent: string) => void>();
  await show(<AgentChoices chosen="" onChoose={onChoose} />, { AgentChoices: { agentProfiles: PROFILES } });
  expect(await screen.findByRole("option", { name: "codex, not usable here" })).toBeDisabled();
  expect(screen.getByRole("combobox", { name: "Agent" })).toHaveDisplayValue("As the steps say");
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Agent" }), "claude (opus)");
  expect(onChoose).toHaveBeenCalledWith("claude");
});
