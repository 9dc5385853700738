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

/** The place of a position; null inside a block of text, braces or quotes, where indentation says nothing. */
export function placeAt(text: string, position: number): Place | null {
  const lines = text.slice(0, position).split("\n");
  const here = read(lines.pop() ?? "");
  if (/[{}[\]#"']/.test(here.value) || here.value.startsWith("- ")) return null;
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
    if (/^\s*(?:#|$)/.test(written)) continue;
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
  return list === null ? { path, key: here.key, from: position - here.value.length, column: here.column } : null;
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
