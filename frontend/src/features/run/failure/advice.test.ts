import { expect, test } from "vitest";

import type { FailureRemedy } from "../../../domain/fragments.generated.ts";
import { adviceFor, opensRaw } from "./advice.ts";

function failed(remedy: FailureRemedy, stepKey: string | null = "send", actions = ["RESUME", "RERUN"]) {
  return adviceFor({ actions, failure: { remedy, stepKey } } as never);
}

test.each([
  ["RESUME", "resume"],
  ["CHANGE_INPUT", "change"],
  ["SET_CREDENTIAL", "credential"],
  ["RAISE_QUOTA", "account"],
  ["ASK_OPERATOR", "operator"],
  ["REPORT", "report"],
] as const)("%s asks to %s", (remedy, advice) => {
  expect(failed(remedy)).toBe(advice);
});

test("no button is recommended before somebody has checked what changed", () => {
  expect(failed("CHECK_CHANGES")).toBeNull();
  expect(failed("CHECK_CHANGES", "send", ["RERUN"])).toBeNull();
});

test("a run that failed itself has no input to change", () => {
  expect(failed("CHANGE_INPUT", null)).toBe("resume");
});

test("what cannot be resumed is run again, but a defect is reported all the same", () => {
  expect(failed("SET_CREDENTIAL", "send", ["RERUN"])).toBe("rerun");
  expect(failed("REPORT", "send", [])).toBe("report");
});

test("what succeeded can be run again, and what runs needs nothing", () => {
  expect(adviceFor({ actions: ["RERUN"], failure: null })).toBe("rerun");
  expect(adviceFor({ actions: ["CANCEL"], failure: null })).toBeNull();
  expect([opensRaw("INTERNAL"), opensRaw("TIMEOUT")]).toEqual([true, false]);
});
