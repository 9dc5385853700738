// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { show } from "../../testing/show.tsx";
import { ModelsAndLimits } from "./ModelsAndLimits.tsx";
import type { ModelPartsFragment } from "./settings.generated.ts";

afterEach(cleanup);

const LACKING = {
  kind: "MODEL",
  name: "openai:x",
  message: "There is no key for openai:x.",
  hint: "Store one.",
} as const;
const LIMITS = {
  deadlineSeconds: 1800,
  stepTimeoutSeconds: 600,
  waitSeconds: 50,
  steps: 64,
  concurrentRuns: 8,
  queuedRuns: 1000,
  stepInputBytes: 1,
  stepOutputBytes: 1,
  transcriptBytes: 1,
  uploadBytes: 1,
  sessionIdleSeconds: 900,
  runDays: 90,
  runCount: 10_000,
  artifactDays: 7,
};

function model(key: string, usable: boolean): ModelPartsFragment {
  const availability = { usable, missing: usable ? [] : [LACKING] };
  return { key, kind: "TEXT", name: key, provider: "p", availability };
}

async function settings(...chain: ModelPartsFragment[]) {
  const data = { budgets: [], modelRoles: [{ role: "writer", chain }], server: { runLimits: LIMITS } };
  await show(<ModelsAndLimits data={data} agents={null} />);
  return screen.findByRole("listitem");
}

test("A model that another replaces is named with its remedy", async () => {
  const role = await settings(model("openai:x", false), model("ollama:y", true));
  expect(role).toHaveTextContent("There is no key for openai:x. Store one.");
  expect(role).toHaveTextContent("ollama:y is used instead of openai:x.");
});

test("A role whose models cannot be used says that none serves it", async () => {
  expect(await settings(model("openai:x", false))).toHaveTextContent("No model of this role can be used.");
});

test("A role whose first model works says nothing more", async () => {
  expect(await settings(model("ollama:y", true), model("openai:x", false))).not.toHaveTextContent("instead");
});

test("budgets say what is spent, and warn when most of it is", async () => {
  const spent = { message: "$42.00 of $50.00", setting: "PACKLINE_BUDGET_CALLER_MONTH_USD", ofCaller: true };
  const other = { message: "1 of 100 tokens", setting: "PACKLINE_BUDGET_MONTH_TOKENS", ofCaller: false };
  const budgets = [
    { ...spent, nearlySpent: true },
    { ...other, nearlySpent: false },
  ];
  await show(<ModelsAndLimits data={{ budgets, modelRoles: [], server: { runLimits: LIMITS } }} agents={null} />);
  const [mine, all] = (await screen.findByRole("heading", { name: "Budgets this month" }))
    .closest("section")!
    .querySelectorAll("li");
  expect(mine).toHaveTextContent("Yours$42.00 of $50.00Models are no longer called once it is spent.");
  expect(all).toHaveTextContent("All callers1 of 100 tokens");
  expect(all).not.toHaveTextContent("no longer");
});
