import { expect, it } from "vitest";

import { ACTIONS } from "./actions.ts";
import { auditFilter, auditSearch } from "./search.ts";

it("knows every command by the name the audit gives it", () => {
  expect(ACTIONS).toContain("run_pipeline");
  expect(ACTIONS).toContain("sign_in");
});

it("takes the last day whole", () => {
  const { createdFrom, createdBefore } = auditFilter(auditSearch({ from: "2026-11-20", to: "2026-11-20" }));
  expect(Date.parse(String(createdBefore)) - Date.parse(String(createdFrom))).toBe(86_400_000);
});

it("leaves out what is no day", () => {
  expect(auditFilter(auditSearch({ from: "yesterday", to: "2026-13-40", q: 12 }))).toEqual({ text: "12" });
});
