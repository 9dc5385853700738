// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";
import { cleanup, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import { show } from "../../testing/show.tsx";
import { refusalOf } from "./refusal.ts";
import { ScheduleForm } from "./ScheduleForm.tsx";
import { newSchedule } from "./scheduleForm.ts";
import type { Draft, Refusal } from "./TriggerForm.tsx";
import type { ScheduleInput } from "./triggers.generated.ts";

afterEach(cleanup);

const SCHEMA = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

/** Answers each expression with its own preview. */
type Preview = (variables: { schedule: { cron: string } }) => unknown;

async function form(
  onSave: (draft: Draft<ScheduleInput>) => Promise<Refusal | null>,
  preview: Preview = () => ({ previewSchedule: { nextFirings: [], issues: [] } }),
) {
  return await show(
    <ScheduleForm
      inputSchema={SCHEMA}
      name=""
      schedule={newSchedule("Asia/Tokyo")}
      word="Add"
      onCancel={() => undefined}
      onSave={onSave}
    />,
    { SchedulePreview: preview },
  );
}

const issue = (path: string[], message: string) => ({ path, message, hint: null });
const input = () => screen.getByRole("textbox", { name: "Name" });

test("a schedule without a name is called after its words", async () => {
  const onSave = vi.fn(async () => null);
  await form(onSave);
  expect(screen.getByRole("status")).toHaveTextContent("Every weekday at 09:00, Asia/Tokyo time.");
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

test("the next firings show while a schedule is typed, in its zone and the reader's", async () => {
  const never = { message: "`0 9 31 2 *` never fires.", hint: "Check the day and the month." };
  const { asked } = await form(
    async () => null,
    ({ schedule }) => ({
      previewSchedule: schedule.cron.includes("31")
        ? { nextFirings: [], issues: [never] }
        : { nextFirings: ["2030-01-07T00:00:00Z"], issues: [] },
    }),
  );
  const table = await screen.findByRole("table", { name: "Next firings" });
  expect(table).toHaveTextContent(/Asia\/Tokyo.*09:00/);
  const before = asked.length;
  const expression = screen.getByRole("textbox", { name: "Cron expression" });
  // All keys at once: userEvent leaves a loaded machine time for requests between them.
  for (const value of ["0", "0 9", "0 9 31", "0 9 31 2", "0 9 31 2 *"])
    fireEvent.change(expression, { target: { value } });
  await screen.findByText(/never fires\. Check the day/);
  expect(screen.queryByRole("table", { name: "Next firings" })).toBeNull();
  const typed = asked.slice(before).map(({ variables }) => (variables["schedule"] as { cron?: string }).cron);
  expect(new Set(typed)).toEqual(new Set(["0 9 31 2 *"]));
});
