import { expect, test } from "vitest";

import type { FailureCode } from "../../../domain/fragments.generated.ts";
import { adviceFor, opensRaw } from "./advice.ts";

function failed(code: FailureCode, kind: string, stepKey: string | null = "send") {
  return adviceFor({ actions: ["RESUME", "RERUN"], failure: { code, class: kind, stepKey } as never });
}

test.each([
  ["RATE_LIMITED", "TRANSIENT", "resume"],
  ["SESSION_UNAVAILABLE", "TRANSIENT", "resume"],
  ["INVALID_INPUT", "CALLER_FIXABLE", "change"],
  ["QUOTA_EXCEEDED", "CALLER_FIXABLE", "resume"],
  ["CREDENTIAL_INVALID", "CALLER_FIXABLE", "credential"],
  ["HANDLER_FAILED", "PACK_BUG", "report"],
  ["SCHEMA_MISMATCH", "STATE_CHANGED", "resume"],
  ["CANCELLED", "CANCELLED", "resume"],
] as const)("%s asks to %s", (code, kind, advice) => {
  expect(failed(code, kind)).toBe(advice);
});

test("a run that failed itself has no input to change", () => {
  expect(failed("INVALID_INPUT", "CALLER_FIXABLE", null)).toBe("resume");
});

test("what succeeded can be run again, and what runs needs nothing", () => {
  expect(adviceFor({ actions: ["RERUN"], failure: null })).toBe("rerun");
  expect(adviceFor({ actions: ["CANCEL"], failure: null })).toBeNull();
  expect([opensRaw("INTERNAL"), opensRaw("TIMEOUT")]).toEqual([true, false]);
});
