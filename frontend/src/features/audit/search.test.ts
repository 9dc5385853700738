import { expect, it } from "vitest";

import { ACTIONS } from "./actions.ts";
import { auditFilter, auditSearch } from "./search.ts";

it("knows every command by the name the audit gives it", () => {
  expect(ACTIONS).toContain("run_pipeline");
  expect(ACTIONS).toContain("sign_in");
});

it("takes the last day whole", () => {
  const { from, before } = auditFilter(auditSearch({ from: "2026-11-20", to: "2026-11-20" }));
  expect(Date.parse(String(before)) - Date.parse(String(from))).toBe(86_400_000);
});

it("leaves out what is no day", () => {
  expect(auditFilter(auditSearch({ from: "yesterday", to: "2026-13-40", q: 12 }))).toEqual({ text: "12" });
});
