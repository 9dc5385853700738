// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, waitFor } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { aFailedRun } from "../../../testing/runs.ts";
import { type Answers, show } from "../../../testing/show.tsx";
import { type Asked, RunDialog } from "./dialogs.tsx";
import type { PreviewPartsFragment } from "../run.generated.ts";

afterEach(cleanup);

const PLAN: PreviewPartsFragment = {
  allowed: true,
  definitionChanged: false,
  issues: [],
  steps: [
    {
      key: "outline",
      action: "REUSE",
      reason: "It succeeded.",
      effects: "NONE",
      mayRepeatEffects: false,
      inputSource: null,
      input: null,
    },
    {
      key: "render",
      action: "RUN",
      reason: "It failed.",
      effects: "NONE",
      mayRepeatEffects: false,
      inputSource: "DEFINITION",
      input: null,
    },
    {
      key: "publish",
      action: "RUN",
      reason: "It was not reached.",
      effects: "EXTERNAL",
      mayRepeatEffects: false,
      inputSource: "DEFINITION",
      input: null,
    },
  ],
};
const SCHEMA = {
  type: "object",
  required: ["title"],
  properties: { title: { type: "string" }, slides: { type: "integer" } },
};
const STEP = {
  run: {
    id: "run_1",
    step: {
      id: "step_render",
      whole: { json: { title: "Tea" }, text: null },
      step: { key: "render", pack: { id: "test.render", inputSchema: SCHEMA } },
    },
  },
};
const DONE = { resumeRun: { __typename: "RunSuccess", run: aFailedRun() } };

async function dialog(asked: Asked, answers: Answers = {}, plan: Partial<PreviewPartsFragment> = {}) {
  const onClose = vi.fn<() => void>();
  const shown = await show(<RunDialog asked={asked} run={aFailedRun()} onClose={onClose} />, {
    ResumePlan: { run: { id: "run_1", resumePreview: { ...PLAN, ...plan } } },
    RerunPlan: { run: { id: "run_1", rerunPreview: { ...PLAN, ...plan } } },
    RunSchemas: { run: { id: "run_1", version: { id: "v", inputSchema: SCHEMA }, pack: null, pipeline: null } },
    ChangeableStep: STEP,
    ResumeRun: DONE,
    ...answers,
  });
  const sent = (name: string) => shown.asked.filter((one) => one.name === name).map(({ variables }) => variables);
  return { ...shown, onClose, sent };
}

test("resuming says what is kept, what runs and what has effects, and names its act", async () => {
  const { onClose, sent } = await dialog("resume");
  expect(await screen.findByRole("dialog", { name: "Resume from step 2" })).toBeVisible();
  expect(await screen.findByText("1 step: Outline")).toBeVisible();
  expect(screen.getByText("2 steps: Render, Publish")).toBeVisible();
  expect(screen.getByText("Publish", { selector: "dd" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Resume from step 2" }));
  await waitFor(() => expect(onClose).toHaveBeenCalledOnce());
  expect(sent("ResumeRun")).toEqual([{ id: "run_1", inputs: null, definition: "OF_RUN" }]);
});

test("an input given in an earlier resume is shown and can be dropped", async () => {
  const [outline, render, publish] = PLAN.steps;
  const given = { json: { title: "Coffee" }, text: null, sizeBytes: 18 };
  const { sent } = await dialog(
    "resume",
    {},
    { steps: [outline!, { ...render!, inputSource: "EARLIER_STEP_INPUT", input: given }, publish!] },
  );
  expect(await screen.findByText("Render: entered in an earlier resume")).toBeVisible();
  await userEvent.click(screen.getByText("Render: entered in an earlier resume"));
  expect(screen.getByText(/Coffee/)).toBeVisible();
  await userEvent.click(screen.getByRole("checkbox", { name: /Use the input from the definition/ }));
  await waitFor(() =>
    expect(sent("ResumePlan").at(-1)).toEqual({ id: "run_1", stepInput: null, inputs: null, definition: "OF_RUN" }),
  );
  await waitFor(() => expect(screen.getByRole("button", { name: "Resume from step 2" })).toBeEnabled());
  await userEvent.click(screen.getByRole("button", { name: "Resume from step 2" }));
  await waitFor(() => expect(sent("ResumeRun")).toMatchObject([{ stepInput: null }]));
});

test("what the server would refuse cannot be pressed, and says why", async () => {
  await dialog(
    "resume",
    {},
    {
      allowed: false,
      issues: [
        {
          path: ["run"],
          rule: "pack_gone",
          severity: "ERROR",
          message: "The pack is no longer installed.",
          hint: null,
        },
      ],
    },
  );
  expect(await screen.findByText("The pack is no longer installed.")).toBeVisible();
  expect(screen.getByRole("button", { name: "Resume from step 2" })).toBeDisabled();
});

test("a refusal keeps the dialog open and says what was answered", async () => {
  const refused = {
    resumeRun: {
      __typename: "WrongStateProblem",
      message: "The run is running.",
      code: "WRONG_STATE",
      hintParts: { text: "Wait for its end.", closest: "run_2" },
      retryable: false,
    },
  };
  const { onClose } = await dialog("resume", { ResumeRun: refused });
  await screen.findByText("1 step: Outline");
  await userEvent.click(screen.getByRole("button", { name: "Resume from step 2" }));
  expect(await screen.findByText(/The run is running\./)).toBeVisible();
  expect(screen.getByRole("alert")).toHaveTextContent(/Did you mean run_2 ?\? Wait for its end\./);
  expect(onClose).not.toHaveBeenCalled();
});

test("a newer definition may be chosen, and its plan is requested again", async () => {
  const { sent } = await dialog("resume", {}, { definitionChanged: true });
  await userEvent.click(await screen.findByRole("checkbox", { name: /Use the current definition, v1/ }));
  await waitFor(() => expect(sent("ResumePlan").at(-1)).toMatchObject({ definition: "CURRENT" }));
  await waitFor(() => expect(screen.getByRole("button", { name: "Resume from step 2" })).toBeEnabled());
  await userEvent.click(screen.getByRole("button", { name: "Resume from step 2" }));
  await waitFor(() => expect(sent("ResumeRun")).toMatchObject([{ definition: "CURRENT" }]));
});

test("a changed input is what the server is asked about and gets", async () => {
  const { sent } = await dialog("change");
  const title = await screen.findByRole("textbox", { name: "Title" });
  expect(title).toHaveValue("Tea");
  await userEvent.clear(title);
  await userEvent.type(title, "Coffee");
  const go = await screen.findByRole("button", { name: "Resume from step 2 with this input" });
  await waitFor(() => expect(go).toBeEnabled());
  expect(sent("ResumePlan").at(-1)).toMatchObject({ stepInput: { title: "Coffee" } });
  await userEvent.click(go);
  await waitFor(() => expect(sent("ResumeRun")).toMatchObject([{ stepInput: { title: "Coffee" } }]));
});

test("an input that is too long to be shown whole is not offered for change", async () => {
  await dialog("change", {
    ChangeableStep: { run: { id: "run_1", step: { ...STEP.run.step, whole: { json: null, text: "{" } } } },
  });
  expect(await screen.findByText("The input is too long to edit here.")).toBeVisible();
  expect(screen.queryByRole("button", { name: /^Resume/ })).toBeNull();
});

test("running again starts at a chosen step and leads to the new run", async () => {
  const { sent, history } = await dialog("rerun", {
    RerunRun: { rerunRun: { __typename: "StartRunSuccess", run: { id: "run_2" } } },
  });
  await userEvent.selectOptions(await screen.findByRole("combobox", { name: "From" }), "step 2, Render");
  // What was not reached cannot be reused.
  expect(screen.getByRole("option", { name: "step 3, Publish" })).toBeDisabled();
  const go = screen.getByRole("button", { name: "Run again from step 2" });
  await waitFor(() => expect(go).toBeEnabled());
  await userEvent.click(go);
  await waitFor(() => expect(history.location.pathname).toBe("/runs/run_2"));
  expect(sent("RerunRun")).toMatchObject([{ id: "run_1", fromStep: "render", inputs: {}, force: false }]);
});

test("cancelling is asked before it happens", async () => {
  const { onClose, sent } = await dialog("cancel", {
    CancelRun: { cancelRun: { __typename: "RunSuccess", run: aFailedRun() } },
  });
  expect(await screen.findByRole("dialog", { name: "Cancel this run?" })).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Keep running" }));
  expect(onClose).toHaveBeenCalledOnce();
  expect(sent("CancelRun")).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Cancel the run" }));
  await waitFor(() => expect(sent("CancelRun")).toEqual([{ id: "run_1" }]));
});
