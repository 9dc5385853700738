// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { refusalOf } from "./refusal.ts";
import { newSchedule } from "./scheduleForm.ts";
import { type Draft, type Refusal, TriggerForm } from "./TriggerForm.tsx";

afterEach(cleanup);

const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

async function form(onSave: (draft: Draft) => Promise<Refusal | null>): Promise<void> {
  await show(
    <TriggerForm
      inputSchema={SCHEMA}
      name=""
      schedule={newSchedule("UTC")}
      word="Add"
      onCancel={() => undefined}
      onSave={onSave}
    />,
  );
}

const issue = (path: string[], message: string) => ({ path, message, hint: null });
const input = () => screen.getByRole("textbox", { name: "Name" });

test("a schedule without a name is called after its words", async () => {
  const onSave = vi.fn(async () => null);
  await form(onSave);
  expect(screen.getByRole("status")).toHaveTextContent("Every weekday at 09:00, UTC time.");
  await userEvent.type(input(), "tea");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect(onSave).toHaveBeenCalledWith(
    expect.objectContaining({ name: "Every weekday at 09:00", inputs: { name: "tea" } }),
    ["name"],
  );
});

test("a missing input is reported at its field before anything is sent", async () => {
  const onSave = vi.fn(async () => null);
  await form(onSave);
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect(input()).toHaveAccessibleDescription(/Required/);
  expect(onSave).not.toHaveBeenCalled();
});

test("problems of an input called name and of the name of the trigger show apart", async () => {
  const refused = {
    message: "The trigger cannot be saved.",
    issues: [issue(["inputs", "name"], "It is too short."), issue(["schedule", "cron"], "It never fires.")],
  };
  await form(async () => refusalOf(undefined, refused, ["name"]));
  await userEvent.type(input(), "t");
  await userEvent.click(screen.getByRole("button", { name: "Add" }));
  expect(input()).toHaveAccessibleDescription(/too short/);
  expect(screen.getByRole("textbox", { name: "Cron expression" })).toHaveAccessibleDescription(/never fires/);
  expect(screen.getByRole("textbox", { name: /^Name · optional/ })).not.toHaveAccessibleDescription(/too short/);
});
