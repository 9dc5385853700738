// @vitest-environment happy-dom
import "@testing-library/jest-dom/vitest";

import { cleanup, screen, within } from "@testing-library/react";
import { userEvent } from "@testing-library/user-event";
import { afterEach, expect, test, vi } from "vitest";

import type { FailureClass, FailureCode, FailurePartsFragment } from "../../../domain/fragments.generated.ts";
import { aFailedRun, aFailure } from "../../../testing/runs.ts";
import { show } from "../../../testing/show.tsx";
import { adviceFor } from "./advice.ts";
import { FailurePanel } from "./FailurePanel.tsx";
import type { RunWholeFragment } from "../run.generated.ts";

afterEach(cleanup);

async function panel(failure: FailurePartsFragment, change: Partial<RunWholeFragment> = {}) {
  const run = aFailedRun(failure, change);
  const step = run.steps.find(({ key }) => key === failure.stepKey) ?? null;
  const onChange = vi.fn<() => void>();
  const onAttempt = vi.fn<(attempt: number | undefined) => void>();
  const shown = await show(
    <FailurePanel
      run={run}
      step={step}
      failure={failure}
      advice={adviceFor(run)}
      attempt={undefined}
      onAttempt={onAttempt}
      onChange={onChange}
    >
      <button type="button">Resume</button>
    </FailurePanel>,
    {
      ResumePlan: {
        run: {
          id: "run_1",
          resumePreview: {
            allowed: true,
            definitionChanged: false,
            issues: [],
            steps: [
              {
                key: "outline",
                action: "RUN_AGAIN",
                reason: "Its session has ended.",
                effects: "NONE",
                mayRepeatEffects: false,
              },
            ],
          },
        },
      },
    },
  );
  return { ...shown, onChange, onAttempt, region: await screen.findByRole("region", { name: "What went wrong" }) };
}

/** The fact beside a term. */
function fact(term: string): HTMLElement {
  return screen.getByText(term).nextElementSibling as HTMLElement;
}

const EACH: readonly (readonly [FailureClass, FailureCode])[] = [
  ["CALLER_FIXABLE", "INVALID_INPUT"],
  ["TRANSIENT", "RATE_LIMITED"],
  ["STATE_CHANGED", "SCHEMA_MISMATCH"],
  ["PACK_BUG", "HANDLER_FAILED"],
];

test.each(EACH)("a failure of the class %s says what it is, in facts", async (kind, code) => {
  const { region } = await panel(aFailure({ class: kind, code, hint: "Wake it." }));
  expect(within(region).getByRole("heading", { level: 2 })).toHaveTextContent("Step 2, Render, failed");
  expect(fact("What happened")).toHaveTextContent("The service does not answer.");
  expect(fact("Likely cause")).toHaveTextContent(/^It is down or overloaded\.$/);
  expect(fact("What to do")).toHaveTextContent("Wake it.");
  expect(fact("Who can fix it")).toHaveTextContent("Usually nobody needs to.");
  expect(fact("Safe to repeat")).toHaveTextContent(/^Yes/);
  // Of a fault of the pack, only its raw error tells more.
  expect(within(region).getByText("Raw error", { selector: "summary" }).closest("details")?.open).toBe(
    kind === "PACK_BUG",
  );
});

test("a run that was stopped is nobody's failure, and its input is not to be changed", async () => {
  const { region } = await panel(aFailure({ class: "CANCELLED", code: "CANCELLED" }));
  expect(within(region).getByRole("heading", { level: 2 })).toHaveTextContent("Step 2, Render, was stopped");
  expect(within(region).queryByText("Who can fix it")).toBeNull();
  expect(within(region).queryByRole("button", { name: "Change input…" })).toBeNull();
});

test("an input that is wrong is changed from here", async () => {
  const { onChange } = await panel(aFailure({ class: "CALLER_FIXABLE", code: "INVALID_INPUT" }));
  await userEvent.click(screen.getByRole("button", { name: "Change input…" }));
  expect(onChange).toHaveBeenCalledOnce();
});

test("what somebody may not resume offers no change", async () => {
  await panel(aFailure(), { actions: [] });
  expect(screen.queryByRole("button", { name: "Change input…" })).toBeNull();
});

test("a refused credential leads to where it is set, and back", async () => {
  const failure = aFailure({
    class: "CALLER_FIXABLE",
    code: "CREDENTIAL_INVALID",
    remedy: "SET_CREDENTIAL",
    detail: { credential: "ssh" },
  });
  await panel(failure);
  const link = screen.getByRole("link", { name: "Set the credential ssh…" });
  expect(link.getAttribute("href")).toMatch(/^\/credentials\?need=ssh&return=.*run_1/);
});

test.each([null, {}, { credential: 7 }, ["ssh"]])(
  "a failure with the detail %j names no credential",
  async (detail) => {
    await panel(aFailure({ code: "CREDENTIAL_INVALID", remedy: "SET_CREDENTIAL", detail }));
    const link = screen.getByRole("link", { name: "See the credentials…" });
    expect(link.getAttribute("href")).not.toContain("need=");
  },
);

test.each([
  ["REPORT", "Copy report of this fault"],
  ["ASK_OPERATOR", "Copy for the operator what was refused"],
] as const)("the remedy %s begins with a text to pass on", async (remedy, name) => {
  const { region } = await panel(aFailure({ remedy }));
  const button = within(region).getByRole("button", { name });
  const primary = [...region.querySelectorAll(".bg-accent")];
  expect(primary).toEqual([button]);
  const written = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  await userEvent.click(button);
  expect(written.mock.lastCall?.[0]).toContain("The service does not answer.");
});

test("a quota that is used up leads to another account", async () => {
  const { region } = await panel(aFailure({ code: "QUOTA_EXCEEDED", class: "CALLER_FIXABLE", remedy: "RAISE_QUOTA" }));
  const link = within(region).getByRole("link", { name: "Use another account…" });
  expect(link.getAttribute("href")).toMatch(/^\/credentials\?return=.*run_1/);
  expect([...region.querySelectorAll(".bg-accent")]).toEqual([link]);
});

test("a lost session names the step that makes a new one", async () => {
  await panel(aFailure({ class: "STATE_CHANGED", code: "SESSION_UNAVAILABLE" }));
  expect(await screen.findByText(/Outline/)).toBeVisible();
});

test("what may have happened outside already is said", async () => {
  await panel(aFailure({ safeToRepeat: false }));
  expect(fact("Safe to repeat")).toHaveTextContent(/^Uncertain/);
});

test("an attempt is looked at by pressing it", async () => {
  const { onAttempt } = await panel(aFailure());
  await userEvent.click(screen.getByRole("button", { name: /^1 .*upstream unavailable$/ }));
  expect(onAttempt).toHaveBeenCalledWith(1);
});

test("a failure with markup in its message is text", async () => {
  const { region } = await panel(aFailure({ message: "<img src=x onerror=alert(1)>" }));
  expect(region.querySelector("img")).toBeNull();
  expect(fact("What happened")).toHaveTextContent("<img src=x onerror=alert(1)>");
});

test("a pack's exception shows its traceback as lines, and the report has it", async () => {
  const whole = [
    "Traceback (most recent call last):",
    '  File "packs/text/x.py", line 7, in run',
    "ValueError: no luck",
  ];
  const folded = ["Traceback (most recent call last):", "  … 1 call outside of the pack …", "ValueError: no luck"];
  const failure = aFailure({ class: "PACK_BUG", code: "HANDLER_FAILED", message: "x raised it", remedy: "REPORT" });
  const run = aFailedRun(failure);
  const steps = run.steps.map((step) => ({
    ...step,
    attempts: step.attempts.map((attempt) => ({
      ...attempt,
      exception: { type: "ValueError", traceback: whole, foldedTraceback: folded },
    })),
  }));
  const { region } = await panel(failure, { steps });
  const details = within(region).getByText("Traceback", { selector: "summary" }).closest("details");
  expect(details?.open).toBe(true);
  expect(within(region).getByText("Raw error", { selector: "summary" }).closest("details")?.open).toBe(false);
  const shown = within(region).getByRole("region", { name: "Traceback" });
  expect(shown.textContent).toBe(folded.join("\n"));
  await userEvent.click(within(region).getByRole("button", { name: "Show all calls" }));
  expect(shown.textContent).toBe(whole.join("\n"));

  const written = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
  await userEvent.click(within(region).getByRole("button", { name: /Copy report/ }));
  expect(written.mock.lastCall?.[0]).toContain(whole.join("\n"));
});
