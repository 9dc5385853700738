// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, fireEvent, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";

import { aFailedRun, aFailure, aStep } from "../../../testing/runs.ts";
import { show } from "../../../testing/show.tsx";
import { StepTabs } from "./StepTabs.tsx";
import type { Tab } from "./tabs.ts";

afterEach(cleanup);

const NOTE = "Not set, because they had no value: title.";
const DETAIL = {
  run: { id: "run_1", step: { id: "step_outline", key: "outline", input: null, output: null, step: null } },
};

interface Looked {
  state?: "RUNNING" | "SUCCEEDED";
  chosen?: boolean;
}

async function tabs(tab: Tab, { state = "SUCCEEDED", chosen = false }: Looked = {}) {
  const onTab = vi.fn<(tab: Tab) => void>();
  const [attempt] = aStep("outline").attempts;
  const step = aStep("outline", { state, attempts: attempt === undefined ? [] : [{ ...attempt, notes: [NOTE] }] });
  const run = aFailedRun(aFailure());
  await show(
    <StepTabs
      run={run}
      step={step}
      tab={tab}
      chosen={chosen}
      attempt={undefined}
      log={{}}
      onTab={onTab}
      onLog={() => undefined}
    />,
    {
      StepDetail: DETAIL,
    },
  );
  return onTab;
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

test("who uses a tab of a step that still runs has chosen it", async () => {
  const onTab = await tabs("input", { state: "RUNNING" });
  expect(onTab).not.toHaveBeenCalled();
  fireEvent.wheel(screen.getByRole("tabpanel"));
  expect(onTab).toHaveBeenCalledWith("input");
});

test("a key that leads past a tab chooses nothing, and one that reads it does", async () => {
  const onTab = await tabs("input", { state: "RUNNING" });
  for (const key of ["Tab", "Shift", "Control", "Alt", "Meta"])
    fireEvent.keyDown(screen.getByRole("tabpanel"), { key });
  expect(onTab).not.toHaveBeenCalled();
  fireEvent.keyDown(screen.getByRole("tabpanel"), { key: "PageDown" });
  expect(onTab).toHaveBeenCalledWith("input");
});

test("a chosen tab, or one of a step that has ended, is left alone", async () => {
  const chosen = await tabs("input", { state: "RUNNING", chosen: true });
  fireEvent.wheel(screen.getByRole("tabpanel"));
  expect(chosen).not.toHaveBeenCalled();
  cleanup();
  const ended = await tabs("input");
  fireEvent.wheel(screen.getByRole("tabpanel"));
  expect(ended).not.toHaveBeenCalled();
});
