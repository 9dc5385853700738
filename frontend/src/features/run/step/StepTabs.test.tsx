// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";

import { aFailedRun, aFailure, aStep } from "../../../testing/runs.ts";
import { show } from "../../../testing/show.tsx";
import { StepTabs } from "./StepTabs.tsx";
import type { Tab } from "./tabs.ts";

afterEach(cleanup);

const NOTE = "Not set, because they had no value: title.";
const DETAIL = {
  run: { id: "run_1", step: { id: "step_outline", key: "outline", input: null, output: null, step: null } },
};

async function tabs(tab: Tab) {
  const [attempt] = aStep("outline").attempts;
  const step = aStep("outline", { attempts: attempt === undefined ? [] : [{ ...attempt, notes: [NOTE] }] });
  const run = aFailedRun(aFailure());
  await show(
    <StepTabs
      run={run}
      step={step}
      tab={tab}
      attempt={undefined}
      log={{}}
      onTab={() => undefined}
      onLog={() => undefined}
    />,
    {
      StepDetail: DETAIL,
    },
  );
}

test("What had no value is a note at the step's input, and nothing to warn of", async () => {
  await tabs("input");
  expect(await screen.findByRole("list", { name: "Notes" })).toHaveTextContent(NOTE);
  expect(screen.queryByText(/warning/i)).not.toBeInTheDocument();
});

test("Other tabs do not repeat the note", async () => {
  await tabs("output");
  expect(screen.queryByRole("list", { name: "Notes" })).not.toBeInTheDocument();
});
