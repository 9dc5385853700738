import { expect, test } from "vitest";

import { type Entry, merged, type Part, partsOf, piecesOf, SPLIT_AT } from "./transcript.ts";

let number = 0;
function entry(
  kind: Entry["kind"],
  text: string | null = null,
  data: unknown = null,
  at = "2026-01-01T00:00:00.000Z",
): Entry {
  number += 1;
  return { sequence: number, at, kind, text, data };
}
function fresh(...entries: Entry[]): readonly Entry[] {
  return entries.map((one, index) => ({ ...one, sequence: index + 1 }));
}
function callOf(parts: readonly Part[]): Extract<Part, { kind: "call" }> {
  const found = parts.find((part) => part.kind === "call");
  if (found?.kind !== "call") throw new Error("no call");
  return found;
}

test("a call and its answer are one line, with its time and how it went", () => {
  const call = entry("TOOL_CALL", "Bash", { id: "t1", tool: "Bash", arguments: { command: "git diff\nmore" } });
  const parts = partsOf(
    fresh(call, entry("TOOL_RESULT", "+ a", { id: "t1", is_error: false }, "2026-01-01T00:00:00.400Z")),
  );
  expect(parts).toHaveLength(1);
  expect(callOf(parts)).toMatchObject({ title: "ran git diff", seconds: 0.4, outcome: "ok", result: "+ a" });
  const failed = partsOf(
    fresh(entry("TOOL_CALL", "ls", { id: "c", tool: "shell" }), entry("TOOL_RESULT", "no", { id: "c", exit_code: 2 })),
  );
  expect(callOf(failed)).toMatchObject({ title: "ran ls", outcome: "failed", seconds: null });
  expect(callOf(partsOf(fresh(call))).outcome).toBe("open");
});

test("denials are lines of their own, counted, and mark the call they belong to", () => {
  const parts = partsOf(
    fresh(
      entry("TOOL_CALL", "Write", { id: "w", tool: "Write", arguments: { file_path: "/etc/passwd" } }),
      entry("TOOL_RESULT", "refused", { id: "w", is_error: true }),
      entry("DENIAL", null, { tool_name: "Write", tool_use_id: "w" }),
      entry("DENIAL", null, { tool_name: "Bash" }),
      entry("DENIAL", "curl", { program: "curl", by: "default" }),
    ),
  );
  expect(callOf(parts)).toMatchObject({ title: "Write /etc/passwd", outcome: "denied" });
  expect(parts.slice(1)).toMatchObject([
    { kind: "denial", calls: ["Write", "Bash"], by: null },
    { kind: "denial", calls: ["curl"], by: "default" },
  ]);
});

test("parts of one text are one again, and two messages stay two", () => {
  const long = "x".repeat(SPLIT_AT);
  const parts = partsOf(
    fresh(
      entry("PROMPT", long, { profile: "mock" }),
      entry("PROMPT", "end"),
      entry("MESSAGE", "one"),
      entry("MESSAGE", "two"),
      entry("OUTPUT", "a"),
      entry("OUTPUT", "b"),
      entry("ERROR_OUTPUT", "c"),
    ),
  );
  expect(parts.map((part) => ("text" in part ? part.text.length : 0))).toEqual([SPLIT_AT + 3, 3, 3, 2, 1]);
});

test("usage is shown per turn although programs add it up, and gaps show", () => {
  const used = (input: number, output: number, cost: number) =>
    entry("USAGE", null, { input_tokens: input, output_tokens: output, cost_usd: cost });
  expect(partsOf(fresh(used(100, 10, 0.5), used(150, 30, 0.75)))).toMatchObject([
    { input: 100, output: 10, usd: 0.5, total: true },
    { input: 50, output: 20, usd: 0.25, total: false },
  ]);
  const holed = [
    { ...entry("OUTPUT", "a"), sequence: 1 },
    { ...entry("OUTPUT", "b"), sequence: 9 },
  ];
  expect(partsOf(holed)).toMatchObject([{ text: "a" }, { kind: "gap", entries: 7 }, { text: "b" }]);
  const cut = [
    { ...entry("OUTPUT", "a"), sequence: 1 },
    { ...entry("CUT", null, { entries: 7 }), sequence: 8 },
    { ...entry("OUTPUT", "b"), sequence: 9 },
  ];
  expect(partsOf(cut)).toMatchObject([{ text: "a" }, { kind: "gap", entries: 7 }, { text: "b" }]);
});

test("entries are merged by their number, each once", () => {
  const entries = fresh(entry("OUTPUT", "a"), entry("OUTPUT", "b"), entry("OUTPUT", "c"));
  expect(merged(entries.slice(0, 2), entries.slice(1))).toEqual(entries);
  expect(merged(entries.slice(1), entries.slice(0, 1))).toEqual(entries);
  expect(merged(entries, [])).toBe(entries);
});

test("masks name what stood there", () => {
  expect(piecesOf("key [redacted:github.token] end")).toEqual([
    { text: "key " },
    { secret: "github.token" },
    { text: " end" },
  ]);
  expect(piecesOf("nothing")).toEqual([{ text: "nothing" }]);
});
