// References in texts, `${{ inputs.url }}` and `${{ steps.fetch.output.text }}`, as far as an editor needs them: their
// positions, paths and values. The server's check decides.

import { readJson } from "../../../lib/json/untrusted.ts";

export type Segment = string | number;

export interface Reference {
  /** Its range, braces included. */
  start: number;
  end: number;
  /** `["inputs", "url"]` or `["steps", "fetch", "output", "text"]`. */
  path: Segment[];
  optional: boolean;
  /** A default, if it names one. */
  fallback: { value: unknown } | null;
}

export interface Span {
  start: number;
  /** Behind the closing braces; the end of the text when it is never closed. */
  end: number;
  closed: boolean;
}

const OPEN = "${{";
const CLOSE = "}}";

/** Everything between `${{` and `}}` in a text, also invalid references. `$${{` is an escape. */
export function spansOf(text: string): Span[] {
  const spans: Span[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf(OPEN, at);
    if (start < 0) return spans;
    if (start > at && text[start - 1] === "$") {
      at = start + OPEN.length;
      continue;
    }
    const close = closing(text, start + OPEN.length);
    spans.push({ start, end: close < 0 ? text.length : close + CLOSE.length, closed: close >= 0 });
    if (close < 0) return spans;
    at = close + CLOSE.length;
  }
}

/** The closing braces: not those inside quotes, nor inside the brackets of a default. */
function closing(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at += 1;
      while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
    } else if (character === "(") depth += 1;
    else if (character === ")") depth -= 1;
    else if (depth === 0 && text.startsWith(CLOSE, at)) return at;
  }
  return -1;
}

const SEGMENT = /^(?:\.([\p{L}\p{N}_-]+)|\[\s*(\d{1,9})\s*\]|\[\s*("(?:[^"\\]|\\.)*")\s*\])/u;

function referenceOf(text: string, span: Span): Reference | null {
  if (!span.closed) return null;
  let rest = text.slice(span.start + OPEN.length, span.end - CLOSE.length).trim();
  const root = /^(?:inputs|steps)/.exec(rest)?.[0];
  if (root === undefined) return null;
  rest = rest.slice(root.length);
  const path: Segment[] = [root];
  for (let found = SEGMENT.exec(rest); found !== null; found = SEGMENT.exec(rest)) {
    const [whole, name, place, quoted] = found;
    const part = name ?? (place === undefined ? readJson(quoted ?? '""')?.json : Number(place));
    // A segment that only looks quoted, such as `["\q"]`, is not a reference.
    if (typeof part !== "string" && typeof part !== "number") return null;
    path.push(part);
    rest = rest.slice(whole.length);
  }
  const tail = /^\s*(?:(\?)|\|\s*default\s*\(([\s\S]*)\))?$/.exec(rest);
  const complete = root === "inputs" ? path.length > 1 : path.length > 2 && path[2] === "output";
  if (tail === null || !complete) return null;
  const fallback = tail[2] === undefined ? null : readJson(tail[2]);
  if (tail[2] !== undefined && fallback === null) return null;
  return {
    start: span.start,
    end: span.end,
    path,
    optional: tail[1] !== undefined,
    fallback: fallback === null ? null : { value: fallback.json },
  };
}

export function referencesIn(text: string): Reference[] {
  return spansOf(text)
    .map((span) => referenceOf(text, span))
    .filter((found) => found !== null);
}

/** A reference as it is written. */
export function written(path: readonly Segment[]): string {
  return `\${{ ${dotted(path)} }}`;
}

export function dotted(path: readonly Segment[]): string {
  return path
    .map((part, index) =>
      typeof part === "number"
        ? `[${part}]`
        : /^[\p{L}\p{N}_-]+$/u.test(part)
          ? index === 0
            ? part
            : `.${part}`
          : `[${JSON.stringify(part)}]`,
    )
    .join("");
}

/** The text with the path of every reference mapped; all else stays as it is written. */
export function mapReferences(text: string, change: (path: Segment[]) => Segment[]): string {
  let result = text;
  for (const { start, end, path } of referencesIn(text).toReversed()) {
    const next = change(path);
    if (next === path) continue;
    result = result.slice(0, start) + text.slice(start, end).replace(dotted(path), dotted(next)) + result.slice(end);
  }
  return result;
}

/** The reference being typed at a position: its start and its text so far. */
export function typedAt(text: string, caret: number): { from: number; to: number; typed: string } | null {
  const span = spansOf(text).find(
    ({ start, end, closed }) => start + OPEN.length <= caret && (closed ? caret <= end - CLOSE.length : caret <= end),
  );
  if (span === undefined) return null;
  const typed = text.slice(span.start + OPEN.length, caret).trimStart();
  // A space ends the path: `?` or `| default(…)` follows.
  if (/[\s|?]/.test(typed)) return null;
  // An unclosed reference ends where the next word begins.
  const to = span.closed ? span.end : caret;
  return { from: span.start, to, typed };
}

export interface Known {
  inputs: unknown;
  /** Outputs by step id. */
  outputs: Readonly<Record<string, unknown>>;
}

const ABSENT = Symbol("absent");

function look(path: readonly Segment[], known: Known): unknown {
  const [root, step] = path;
  let value: unknown =
    root === "inputs"
      ? known.inputs
      : Object.hasOwn(known.outputs, String(step))
        ? known.outputs[String(step)]
        : ABSENT;
  for (const part of path.slice(root === "inputs" ? 1 : 3)) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, part)) return ABSENT;
    value = (value as Record<Segment, unknown>)[part];
  }
  return value;
}

/** What a reference read in the last run; undefined when that is not known. */
export function valueAt(path: readonly Segment[], known: Known): unknown {
  const value = look(path, known);
  return value === ABSENT ? undefined : value;
}

/** A step's input with its references resolved from an earlier run; `missing` lists the unresolved ones. */
export function resolved(value: unknown, known: Known): { value: unknown; missing: string[] } {
  const missing: string[] = [];
  const filled = fill(value, known, missing);
  return { value: filled === ABSENT ? null : filled, missing: [...new Set(missing)] };
}

function fill(value: unknown, known: Known, missing: string[]): unknown {
  if (typeof value === "string") return fillText(value, known, missing);
  if (Array.isArray(value))
    return value.map((item) => fill(item, known, missing)).map((item) => (item === ABSENT ? null : item));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, item]) => [key, fill(item, known, missing)] as const);
  return Object.fromEntries(entries.filter(([, item]) => item !== ABSENT));
}

function fillText(text: string, known: Known, missing: string[]): unknown {
  const references = referencesIn(text);
  const yields = references.map((reference) => {
    const value = look(reference.path, known);
    if (value !== ABSENT) return value;
    if (reference.fallback !== null) return reference.fallback.value;
    // An input of a run may be optional; the server decides.
    if (!reference.optional && reference.path[0] === "steps") missing.push(text.slice(reference.start, reference.end));
    return ABSENT;
  });
  const [only] = references;
  if (only !== undefined && only.start === 0 && only.end === text.length) return yields[0];
  let result = "";
  let at = 0;
  for (const [index, { start, end }] of references.entries()) {
    const value = yields[index];
    result +=
      text.slice(at, start) + (value === ABSENT ? "" : typeof value === "string" ? value : JSON.stringify(value));
    at = end;
  }
  return (result + text.slice(at)).replaceAll("$" + OPEN, OPEN);
}
