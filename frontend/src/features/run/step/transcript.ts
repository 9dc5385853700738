// What a transcript is made of: entries in order, each known by its number; shown as parts, of which a tool call is
// one.

import type { EntryPartsFragment } from "../run.generated.ts";

export type Entry = EntryPartsFragment;

export type Outcome = "ok" | "failed" | "denied" | "open";

export type Part =
  | { kind: "prompt"; key: number; text: string }
  | { kind: "said"; key: number; by: "agent" | "thinking" | "output" | "error"; text: string }
  | {
      kind: "call";
      key: number;
      title: string;
      tool: string;
      arguments: unknown;
      result: string;
      seconds: number | null;
      outcome: Outcome;
    }
  | { kind: "denial"; key: number; calls: readonly string[]; by: string | null }
  | { kind: "usage"; key: number; input: number; output: number; usd: number | null; total: boolean }
  | { kind: "gap"; key: number; entries: number };

type Call = Extract<Part, { kind: "call" }>;
type Data = Record<string, unknown>;

/** Texts longer than this are several entries; they belong together. */
export const SPLIT_AT = 16_000;
/** Longest title of a call, in characters. */
const TITLE = 160;

/** Merges loaded and streamed entries, each once, in order. */
export function merged(known: readonly Entry[], more: readonly Entry[]): readonly Entry[] {
  const last = known.at(-1)?.sequence ?? 0;
  if (more.every(({ sequence }) => sequence > last)) return more.length === 0 ? known : [...known, ...more];
  const all = new Map([...more, ...known].map((entry) => [entry.sequence, entry]));
  return [...all.values()].toSorted((one, other) => one.sequence - other.sequence);
}

/** The parts of a transcript, oldest first; numbers that are missing between entries become a gap. */
export function partsOf(entries: readonly Entry[]): readonly Part[] {
  const parts: Part[] = [];
  const calls = new Map<string, { call: Call; at: string | null }>();
  let used = { input: 0, output: 0, usd: 0 };
  let before: Entry | null = null;
  for (const entry of entries) {
    const data = objectOf(entry.data);
    const key = entry.sequence;
    if (entry.kind !== "CUT" && before !== null && before.kind !== "CUT" && key > before.sequence + 1)
      parts.push({ kind: "gap", key: key - 0.5, entries: key - before.sequence - 1 });
    switch (entry.kind) {
      case "PROMPT":
        said(parts, entry, before, { kind: "prompt", key, text: "" });
        break;
      case "MESSAGE":
        said(parts, entry, before, {
          kind: "said",
          key,
          by: data["thinking"] === true ? "thinking" : "agent",
          text: "",
        });
        break;
      case "OUTPUT":
        said(parts, entry, before, { kind: "said", key, by: "output", text: "" });
        break;
      case "ERROR_OUTPUT":
        said(parts, entry, before, { kind: "said", key, by: "error", text: "" });
        break;
      case "TOOL_CALL": {
        const call: Call = {
          kind: "call",
          key,
          title: titleOf(entry, data),
          tool: textOf(data["tool"]) ?? entry.text ?? "tool",
          arguments: data["arguments"] ?? data["changes"] ?? null,
          result: "",
          seconds: null,
          outcome: "open",
        };
        parts.push(call);
        calls.set(textOf(data["id"]) ?? `#${key}`, { call, at: entry.at });
        break;
      }
      case "TOOL_RESULT":
        answered(parts, calls.get(textOf(data["id"]) ?? ""), entry, data, before);
        break;
      case "DENIAL":
        denied(parts, calls.get(textOf(data["tool_use_id"]) ?? "")?.call, entry, data);
        break;
      case "USAGE": {
        const now = {
          input: numberOf(data["input_tokens"]),
          output: numberOf(data["output_tokens"]),
          usd: numberOf(data["cost_usd"]),
        };
        parts.push({
          kind: "usage",
          key,
          input: now.input - used.input,
          output: now.output - used.output,
          usd: now.usd > used.usd ? now.usd - used.usd : null,
          total: used.input + used.output === 0,
        });
        used = now;
        break;
      }
      case "CUT":
        parts.push({ kind: "gap", key, entries: numberOf(data["entries"]) });
        break;
      default:
        entry.kind satisfies never;
    }
    before = entry;
  }
  return parts;
}

/** Adds text to the part before when it goes on there, else as a new part. */
function said(
  parts: Part[],
  entry: Entry,
  before: Entry | null,
  fresh: Extract<Part, { kind: "prompt" | "said" }>,
): void {
  const last = parts.at(-1);
  const same =
    last !== undefined &&
    last.kind === fresh.kind &&
    (last.kind === "prompt" || (fresh.kind === "said" && last.kind === "said" && last.by === fresh.by));
  const goesOn =
    fresh.kind === "said" && (fresh.by === "output" || fresh.by === "error") ? true : isSplit(before, entry);
  if (same && goesOn && (last.kind === "prompt" || last.kind === "said")) last.text += entry.text ?? "";
  else if ((entry.text ?? "") !== "" || fresh.kind === "prompt") parts.push({ ...fresh, text: entry.text ?? "" });
}

function isSplit(before: Entry | null, entry: Entry): boolean {
  return (
    before !== null &&
    before.kind === entry.kind &&
    (entry.data ?? null) === null &&
    (before.text?.length ?? 0) >= SPLIT_AT
  );
}

function answered(
  parts: Part[],
  asked: { call: Call; at: string | null } | undefined,
  entry: Entry,
  data: Data,
  before: Entry | null,
): void {
  const last = parts.at(-1);
  if (asked === undefined && isSplit(before, entry) && last?.kind === "call") {
    last.result += entry.text ?? "";
    return;
  }
  const failed =
    data["is_error"] === true ||
    (typeof data["exit_code"] === "number" && data["exit_code"] !== 0) ||
    data["status"] === "failed";
  const outcome = failed ? "failed" : "ok";
  if (asked === undefined) {
    parts.push({
      kind: "call",
      key: entry.sequence,
      title: "A result",
      tool: "",
      arguments: null,
      result: entry.text ?? "",
      seconds: null,
      outcome,
    });
    return;
  }
  asked.call.result += entry.text ?? "";
  if (asked.call.outcome !== "denied") asked.call.outcome = outcome;
  // A call reported together with its result has no measured duration.
  const took = asked.at === null || entry.at === null ? 0 : (Date.parse(entry.at) - Date.parse(asked.at)) / 1000;
  asked.call.seconds = took > 0 ? took : null;
}

function denied(parts: Part[], call: Call | undefined, entry: Entry, data: Data): void {
  if (call !== undefined) call.outcome = "denied";
  const name = textOf(data["tool_name"]) ?? textOf(data["program"]) ?? entry.text ?? "a call";
  const by = textOf(data["by"]);
  const last = parts.at(-1);
  if (last?.kind === "denial" && last.by === by) parts.splice(-1, 1, { ...last, calls: [...last.calls, name] });
  else parts.push({ kind: "denial", key: entry.sequence, calls: [name], by });
}

/** What a call does, on one line: its command, its file, or its tool. */
function titleOf(entry: Entry, data: Data): string {
  const given = objectOf(data["arguments"]);
  const command = textOf(given["command"]) ?? (data["tool"] === "shell" ? entry.text : null);
  const file = textOf(given["file_path"]) ?? textOf(given["path"]) ?? textOf(given["pattern"]) ?? textOf(given["url"]);
  const tool = entry.text ?? textOf(data["tool"]) ?? "a tool";
  const title = command !== null ? `ran ${command}` : file !== null ? `${tool} ${file}` : tool;
  const [line = ""] = title.split("\n");
  return line.length > TITLE ? `${line.slice(0, TITLE)}…` : line;
}

export type Piece = { text: string } | { secret: string };

/** Splits a text at its masks; each mask names its credential. */
export function piecesOf(text: string): readonly Piece[] {
  const parts = text.split(/\[redacted:([^\]\n]{1,200})\]/);
  return parts.flatMap((part, index): Piece[] =>
    index % 2 === 1 ? [{ secret: part }] : part === "" ? [] : [{ text: part }],
  );
}

function objectOf(value: unknown): Data {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Data) : {};
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
