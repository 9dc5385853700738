// Where in a YAML document a position is, by indentation alone: a text that is being typed can often not be read.

export interface Place {
  /** The mapping around the position; list positions count from 0. */
  path: (string | number)[];
  /** Whose value is being typed; null while a key is. */
  key: string | null;
  /** Where the key or value being typed begins. */
  from: number;
  /** How far the keys of this mapping are indented. */
  column: number;
  /** The keys before the position, when the mapping is in braces; null when it is indented. */
  inBraces: readonly string[] | null;
}

interface Line {
  /** Column of the dash that begins a list item. */
  dash: number | null;
  /** Where the key or the value begins. */
  column: number;
  key: string | null;
  value: string;
}

const LINE = /^(\s*)(-\s+)?(?:(["']?)([^\s"'#:{}[\],&*!|>%@-][^"'#:{}[\],]*)\3\s*:(?:\s+|$))?(.*)$/;

/** The place of a position; null inside a block of text or quotes. */
export function placeAt(text: string, position: number): Place | null {
  const lines = text.slice(0, position).split("\n");
  const [first = "", ...continued] = lines.splice(flowStart(lines));
  const here = read(first);
  here.value = [here.value, ...continued].join("\n");
  const braces = /^[{[]/.test(here.value) ? bracesAt(here.value) : null;
  if (braces === null && (/[{}[\]#"']/.test(here.value) || here.value.startsWith("- "))) return null;
  const path: (string | number)[] = [];
  let { column } = here;
  // Column of the dashes of the list that was climbed into; null in a mapping.
  let list: number | null = null;
  const enter = ({ dash }: Line): void => {
    if (dash !== null) path.unshift(0);
    list = dash;
  };
  enter(here);
  for (const written of lines.toReversed()) {
    if (isEmpty(written)) continue;
    const line = read(written);
    if (line.dash !== null && line.dash === list) path[0] = Number(path[0]) + 1;
    else if (list === null && line.column === column) enter(line);
    else if (list === null ? line.column < column : line.column <= list) {
      // A parent holds nothing but what is indented below it; one with a value is a block of text, or a mistake.
      if (line.key === null || /^[^#]/.test(line.value)) return null;
      path.unshift(line.key);
      ({ column } = line);
      enter(line);
    }
  }
  if (list !== null) return null;
  const from = position - here.value.length;
  const { key, column: indent } = here;
  if (braces === null) return { path, key, from, column: indent, inBraces: null };
  return {
    path: [...path, ...(key === null ? [] : [key]), ...braces.path],
    key: braces.key,
    from: from + braces.from,
    column: indent,
    inBraces: braces.keys,
  };
}

/** The line on which the outermost braces or brackets around the last line begin; the last line if there are none. */
function flowStart(lines: readonly string[]): number {
  let start = lines.length - 1;
  let outermost = indentation(lines[start] ?? "");
  for (let index = start - 1; index >= 0; index--) {
    const written = lines[index] ?? "";
    if (isEmpty(written)) continue;
    const line = read(written);
    // Lines in braces are indented more than the key or the dash before them.
    const parent = line.key === null ? (line.dash ?? line.column - 1) : line.column;
    if (/^[{[]/.test(line.value) && parent < outermost) start = index;
    outermost = Math.min(outermost, indentation(written));
  }
  return start;
}

/** A mapping in braces or a list in brackets that is open. */
interface Open {
  isList: boolean;
  keys: string[];
  /** The key whose value comes next, or how many values of the list came before. */
  at: string | number | null;
}

/** Space and comments. */
const GAP = /(?:\s|(?<=\s)#.*\n)*/y;
/** What is written in braces: marks, texts in quotes and plain words. */
const WRITTEN =
  /(?:([{}[\],]|:(?=[\s{}[\],]|$))|"((?:[^"\\]|\\.)*)"|'((?:[^']|'')*)'|([^\s{}[\],"'#](?:[^{}[\],:#]|:(?=[^\s{}[\],])|(?<=\S)#)*))/y;

/** The place at the end of a text that begins with a brace or bracket; null where no key and no value of one begins. */
function bracesAt(
  text: string,
): { path: (string | number)[]; key: string | null; from: number; keys: string[] } | null {
  const open: Open[] = [];
  // What was written last where a key or a value belongs.
  let word: { text: string; from: number; isPlain: boolean } | null = null;
  for (let next = endOf(GAP, text, 0); next < text.length; next = endOf(GAP, text, WRITTEN.lastIndex)) {
    WRITTEN.lastIndex = next;
    const found = WRITTEN.exec(text);
    if (found === null) return null;
    const [, mark, double, single, plain] = found;
    const within = open.at(-1);
    if (mark === undefined) {
      if (word !== null) return null;
      const shown = plain ?? double ?? single ?? "";
      word = { text: shown.trim(), from: next, isPlain: plain !== undefined };
    } else if (mark === "{" || mark === "[") {
      if (word !== null || within?.at === null) return null;
      open.push({ isList: mark === "[", keys: [], at: mark === "[" ? 0 : null });
    } else if (mark === "}" || mark === "]") {
      if (within?.isList !== (mark === "]")) return null;
      open.pop();
      word = { text: "", from: 0, isPlain: false };
    } else if (mark === ",") {
      if (within === undefined) return null;
      within.at = typeof within.at === "number" ? within.at + 1 : null;
      word = null;
    } else {
      if (word === null || within?.at !== null) return null;
      within.at = word.text;
      within.keys.push(word.text);
      word = null;
    }
  }
  const last = open.pop();
  if (last === undefined || typeof last.at === "number" || word?.isPlain === false) return null;
  const from = word?.from ?? text.length;
  // A word that began on another line is the middle of a text.
  if (text.includes("\n", from)) return null;
  const path = open.flatMap(({ at }) => at ?? []);
  return { path, key: last.at, from, keys: last.keys };
}

/** Where the match of a sticky pattern ends. */
function endOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}

function isEmpty(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

function indentation(line: string): number {
  return line.length - line.trimStart().length;
}

function read(line: string): Line {
  const [, indent = "", dash = "", , key, value = ""] = LINE.exec(line) ?? [];
  return {
    dash: dash === "" ? null : indent.length,
    column: indent.length + dash.length,
    key: key === undefined ? null : key.trim(),
    value: value.trimEnd() === "" ? "" : value,
  };
}
