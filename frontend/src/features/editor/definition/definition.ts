// A pipeline definition as one YAML text that a form and a text editor both change. The text is the truth; an edit
// keeps comments and formatting elsewhere.

import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  Scalar,
  YAMLMap,
  YAMLParseError,
  YAMLSeq,
} from "yaml";

import { mapReferences } from "./templates.ts";
import { preserveFormatting } from "./preserveFormatting.ts";

export type Path = readonly (string | number)[];
export type Json = Record<string, unknown>;

/** Order in which known keys are written; others follow. */
const DEFINITION_KEYS = [
  "key",
  "name",
  "description",
  "inputs",
  "deadline_seconds",
  "concurrency",
  "steps",
  "metadata",
];
const STEP_KEYS = ["id", "pack", "version", "input", "retry", "timeout_seconds"];
/** Keys of a pack step, the one kind the form supports; other steps are shown as YAML. */
const FORM_STEP_KEYS = new Set(STEP_KEYS);

const READ = { version: "1.2", schema: "core", merge: false, prettyErrors: true } as const;
const WRITE = { lineWidth: 100, flowCollectionPadding: false } as const;

export interface Unreadable {
  message: string;
  /** Where in the text, in characters. */
  at: number;
}

export interface Definition {
  /** What the text says; empty where it cannot be read. */
  value: Json;
  steps: StepEntry[];
  unreadable: Unreadable | null;
}

export interface StepEntry {
  /** As written, or empty. */
  id: string;
  pack: string;
  value: Json;
  /** Whether the form can show all of it. */
  plain: boolean;
}

export function readDefinition(text: string): Definition {
  const document = parse(text);
  const [refused] = document.errors;
  if (refused !== undefined)
    return { value: {}, steps: [], unreadable: { message: yamlMessage(refused.message), at: refused.pos[0] } };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 0 });
  } catch (failure) {
    return {
      value: {},
      steps: [],
      unreadable: { message: failure instanceof Error ? failure.message : String(failure), at: 0 },
    };
  }
  if (value === null && text.trim() === "") return { value: {}, steps: [], unreadable: null };
  if (!isObject(value))
    return {
      value: {},
      steps: [],
      unreadable: { message: "A definition is a list of keys with values, such as `name: …`.", at: 0 },
    };
  const steps = Array.isArray(value["steps"]) ? value["steps"] : [];
  return { value, steps: steps.map(entry), unreadable: null };
}

function entry(given: unknown): StepEntry {
  const value = isObject(given) ? given : {};
  const pack = value["pack"];
  const input = value["input"];
  const known = Object.keys(value).every((key) => FORM_STEP_KEYS.has(key));
  return {
    id: typeof value["id"] === "string" ? value["id"] : "",
    pack: typeof pack === "string" ? pack : "",
    value,
    plain:
      isObject(given) &&
      known &&
      typeof pack === "string" &&
      (input === undefined || input === null || isObject(input)),
  };
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that a plain field shows: a text as it is, anything else as JSON. */
export function plainText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function yamlMessage(message: string): string {
  return message.split("\n")[0]?.replace(/:$/, "") ?? message;
}

function parse(text: string): Document {
  try {
    return parseDocument(text, READ);
  } catch {
    // The parser reports errors as values and throws only on too deep recursion.
    const refused: Document = parseDocument("", READ);
    refused.errors.push(new YAMLParseError([0, 1], "RESOURCE_EXHAUSTION", "The definition is nested too deeply"));
    return refused;
  }
}

/** The text after a change to its document; the text as it was when it cannot be read. */
function changed(text: string, change: (root: YAMLMap, document: Document) => void): string {
  const document = parse(text);
  if (document.errors.length > 0) return text;
  const base = document.toString(WRITE);
  if (!isMap(document.contents)) document.contents = document.createNode({}) as never;
  change(document.contents, document);
  const edited = document.toString(WRITE);
  const woven = preserveFormatting(text, base, edited);
  return woven === edited || sameValue(woven, edited) ? woven : edited;
}

function sameValue(one: string, other: string): boolean {
  const read = parse(one);
  return read.errors.length === 0 && JSON.stringify(read.toJS()) === JSON.stringify(parse(other).toJS());
}

/** Sets the value at a path, creating its parents; `undefined` removes it. */
export function setAt(text: string, path: Path, value: unknown): string {
  if (value === undefined) return removeAt(text, path);
  return changed(text, (root, document) => {
    let holder: YAMLMap | YAMLSeq = root;
    for (const [depth, key] of path.slice(0, -1).entries()) {
      const next = holder.get(key, true);
      if (isMap(next) || isSeq(next)) holder = next;
      else {
        const fresh = typeof path[depth + 1] === "number" ? new YAMLSeq() : new YAMLMap();
        put(holder, key, fresh, path.slice(0, depth));
        holder = fresh;
      }
    }
    const key = path.at(-1);
    if (key === undefined) return;
    put(holder, key, made(document, value, holder.get(key, true)), path.slice(0, -1));
  });
}

function removeAt(text: string, path: Path): string {
  return changed(text, (root, document) => {
    document.deleteIn(path);
    // Empty objects are removed, except for the input of a step.
    const holder = path.slice(0, -1);
    const left = document.getIn(holder);
    if (
      holder.length > 0 &&
      holder.at(-1) !== "input" &&
      holder[0] !== "inputs" &&
      isMap(left) &&
      left.items.length === 0 &&
      typeof holder.at(-1) === "string"
    ) {
      document.deleteIn(holder);
    }
    if (root.items.length === 0) root.flow = false;
  });
}

/** A node for a value, with the comments and the quotes of the one it replaces. */
function made(document: Document, value: unknown, before: unknown): unknown {
  const node = document.createNode(value);
  if (isScalar(node) && isScalar(before)) {
    node.comment = before.comment ?? null;
    node.commentBefore = before.commentBefore ?? null;
    if (before.spaceBefore === true) node.spaceBefore = true;
    const quotes = before.type === Scalar.QUOTE_DOUBLE || before.type === Scalar.QUOTE_SINGLE;
    const block = before.type === Scalar.BLOCK_FOLDED || before.type === Scalar.BLOCK_LITERAL;
    if (typeof value === "string" && before.type !== undefined && (quotes || (block && value !== "")))
      node.type = before.type;
  }
  quoteReferences(node);
  return node;
}

/** References are quoted, as YAML requires inside `[…]` and `{…}`. */
function quoteReferences(node: unknown): void {
  if (isScalar(node)) {
    const short = typeof node.value === "string" && !node.value.includes("\n");
    if (short && String(node.value).includes("${{") && node.type === undefined) node.type = Scalar.QUOTE_DOUBLE;
  } else if (isMap(node)) for (const pair of node.items) quoteReferences(pair.value);
  else if (isSeq(node)) for (const item of node.items) quoteReferences(item);
}

function put(holder: YAMLMap | YAMLSeq, key: string | number, node: unknown, at: Path): void {
  if (isSeq(holder)) {
    holder.set(key, node);
    return;
  }
  // An empty flow collection becomes a block.
  if (holder.items.length === 0) holder.flow = false;
  if (holder.has(key)) {
    holder.set(key, node);
    return;
  }
  const order = at.length === 0 ? DEFINITION_KEYS : at.length === 2 && at[0] === "steps" ? STEP_KEYS : [];
  const rank = order.indexOf(String(key));
  const place = rank < 0 ? -1 : holder.items.findIndex((pair) => order.indexOf(nameOf(pair)) > rank);
  holder.add({ key: new Scalar(key), value: node });
  if (place < 0) return;
  const pair = holder.items.pop();
  if (pair !== undefined) holder.items.splice(place, 0, pair);
}

function nameOf(pair: Pair): string {
  return isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
}

function changedSteps(text: string, change: (steps: YAMLSeq, document: Document) => void): string {
  return changed(text, (root, document) => {
    const found: unknown = root.get("steps", true);
    const list = isSeq(found) ? found : new YAMLSeq();
    if (!isSeq(found)) put(root, "steps", list, []);
    if (list.items.length === 0) list.flow = false;
    // The parser attaches a comment above the first step to the list; it belongs to the step and moves with it.
    const [first] = list.items;
    if (list.commentBefore != null && isNode(first)) {
      first.commentBefore = list.commentBefore;
      list.commentBefore = null;
    }
    change(list, document);
  });
}

/** Adds a step after the one at `index`, or at the end. */
export function addStep(text: string, index: number, step: Json): string {
  return changedSteps(text, (steps, document) => {
    const node = document.createNode(step);
    quoteReferences(node);
    steps.items.splice(index + 1, 0, node);
  });
}

export function removeStep(text: string, index: number): string {
  return changedSteps(text, (steps) => {
    steps.items.splice(index, 1);
    if (steps.items.length === 0) steps.flow = true;
  });
}

export function moveStep(text: string, from: number, to: number): string {
  return changedSteps(text, (steps) => {
    const [step] = steps.items.splice(from, 1);
    if (step !== undefined) steps.items.splice(to, 0, step);
  });
}

/** Adds a copy after the step, with a new id. */
export function duplicateStep(text: string, index: number): string {
  const { steps } = readDefinition(text);
  const id = freeId(
    steps[index]?.id ?? "step",
    steps.map((step) => step.id),
  );
  return changedSteps(text, (list) => {
    const step = list.items[index];
    if (!isNode(step)) return;
    const copy = step.clone();
    if (isMap(copy)) copy.set("id", id);
    list.items.splice(index + 1, 0, copy);
  });
}

/** Renames a step and the references of later steps to it. */
export function renameStep(text: string, index: number, id: string): string {
  const { steps } = readDefinition(text);
  const old = steps[index]?.id ?? "";
  const named = setAt(text, ["steps", index, "id"], id);
  if (old === "" || id === "" || steps.some((step, place) => place !== index && step.id === old)) return named;
  return changedSteps(named, (list) => {
    for (const step of list.items) if (isNode(step)) renameIn(step, "steps", old, id);
  });
}

function renameIn(node: unknown, root: "steps" | "inputs", old: string, name: string): void {
  if (isScalar(node) && typeof node.value === "string")
    node.value = mapReferences(node.value, (path) =>
      path[0] === root && path[1] === old ? [root, name, ...path.slice(2)] : path,
    );
  else if (isMap(node)) for (const pair of node.items) renameIn(pair.value, root, old, name);
  else if (isSeq(node)) for (const item of node.items) renameIn(item, root, old, name);
}

/** Renames a declared input and the references to it. */
export function renameInput(text: string, old: string, name: string): string {
  return changed(text, (root, document) => {
    const properties: unknown = document.getIn(["inputs", "properties"], true);
    const pair = isMap(properties) ? properties.items.find((item) => nameOf(item) === old) : undefined;
    if (pair === undefined) return;
    pair.key = new Scalar(name);
    const required: unknown = document.getIn(["inputs", "required"], true);
    if (isSeq(required)) for (const item of required.items) if (isScalar(item) && item.value === old) item.value = name;
    renameIn(root.get("steps", true), "inputs", old, name);
  });
}

/** An id like the one wanted that no step has: `scrape`, `scrape_2`, … */
export function freeId(wanted: string, taken: readonly string[]): string {
  const base =
    wanted
      .toLowerCase()
      .replaceAll(/[^a-z0-9_-]+/g, "_")
      .replace(/^[^a-z]+/, "")
      .slice(0, 60) || "step";
  if (!taken.includes(base)) return base;
  const stem = base.replace(/_\d+$/, "");
  for (let number = 2; ; number += 1) if (!taken.includes(`${stem}_${number}`)) return `${stem}_${number}`;
}

/** The character range of the value at a path, or of its closest parent. */
export function rangeOf(text: string, path: readonly (string | number)[]): [number, number] {
  let node: unknown = parse(text).contents;
  let found: [number, number] = [0, Math.min(text.length, Math.max(1, text.indexOf("\n")))];
  for (const key of path) {
    let next: unknown;
    let name: unknown;
    if (isMap(node)) {
      const pair = node.items.find((item) => nameOf(item) === String(key));
      [name, next] = [pair?.key, pair?.value];
    } else if (isSeq(node)) next = node.items[Number(key)];
    const held = isNode(next) && next.range && next.range[1] > next.range[0] ? next : name;
    if (!isNode(held) || !held.range) break;
    const compound = isMap(held) || isSeq(held);
    const label = compound && isNode(name) && name.range ? name.range : held.range;
    const end = compound && label === held.range ? Math.max(label[0] + 1, text.indexOf("\n", label[0])) : label[1];
    found = [label[0], Math.max(end, label[0] + 1)];
    node = next;
  }
  return found;
}

/** Which step a place in the text belongs to; -1 outside the steps. */
export function stepAt(text: string, position: number): number {
  const contents = parse(text).contents;
  const steps = isMap(contents) ? contents.get("steps", true) : null;
  if (!isSeq(steps)) return -1;
  return steps.items.findLastIndex(
    (step) => isNode(step) && step.range != null && step.range[0] <= position && position <= step.range[2],
  );
}

/** One step as YAML, and back. */
export function stepText(text: string, index: number): string {
  const document = parse(text);
  const step = document.getIn(["steps", index], true);
  if (!isNode(step)) return "";
  const alone = parse("");
  alone.contents = step as never;
  return alone.toString(WRITE);
}
