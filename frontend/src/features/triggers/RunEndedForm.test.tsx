// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { RunEndedForm } from "./RunEndedForm.tsx";
import type { Draft, Refusal } from "./TriggerForm.tsx";
import type { RunEndedInput } from "./triggers.generated.ts";

afterEach(cleanup);

const TAKES_RUN = { type: "object", properties: { run: { type: "object" } }, required: ["run"] };

type Save = (draft: Draft<RunEndedInput>) => Promise<Refusal | null>;

async function form(onSave: Save, chosen: [] | null = null): Promise<void> {
  await show(
    <RunEndedForm
      inputSchema={TAKES_RUN}
      name=""
      runEnded={{ states: ["FAILED"], pipelines: chosen, runsOf: "OWNER" }}
      choices={[
        { id: "pipe_1", name: "Deck" },
        { id: "pipe_2", name: "Blog" },
      ]}
      word="Add"
      onCancel={() => undefined}
      onSave={onSave}
    />,
  );
}

const add = () => userEvent.click(screen.getByRole("button", { name: "Add" }));

test("a pipeline that takes the run is given it, and the name says what it fires for", async () => {
  const onSave = vi.fn<Save>(async () => null);
  await form(onSave);
  await userEvent.click(screen.getByRole("checkbox", { name: "is cancelled" }));
  const pipelines = screen.getByRole("combobox", { name: /^Of these pipelines/ });
  await userEvent.selectOptions(pipelines, "Deck");
  await userEvent.selectOptions(pipelines, "Blog");
  await userEvent.click(screen.getByRole("button", { name: "Remove Blog" }));
  await userEvent.selectOptions(screen.getByRole("combobox", { name: "Whose runs" }), "All callers'");
  await add();
  expect(onSave).toHaveBeenCalledWith(
    {
      name: "When any caller's run of Deck fails or is cancelled",
      settings: { states: ["FAILED", "CANCELLED"], pipelines: ["pipe_1"], runsOf: "ALL" },
      inputs: { run: "${{ trigger.run }}" },
    },
    ["run"],
  );
});

test("a trigger whose pipelines were deleted is not saved for all of them", async () => {
  const onSave = vi.fn<Save>(async () => null);
  await form(onSave, []);
  await add();
  expect(onSave).not.toHaveBeenCalled();
  await userEvent.selectOptions(screen.getByRole("combobox", { name: /^Of these pipelines/ }), "Deck");
  await add();
  expect(onSave).toHaveBeenCalledOnce();
});

test("no state is a problem", async () => {
  const onSave = vi.fn<Save>(async () => null);
  await form(onSave);
  await userEvent.click(screen.getByRole("checkbox", { name: "fails" }));
  await add();
  expect(screen.getByText("Choose at least one.")).toBeVisible();
  expect(onSave).not.toHaveBeenCalled();
});
