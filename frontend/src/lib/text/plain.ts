// Sanitises texts from users, agents and services for display. A bidirectional control character makes a name read as
// another one, such as `invoiceexe.pdf`, and affects the text after it.

/** Control characters except line breaks and tabs, and bidirectional controls; the same as in the CLI. */
// oxlint-disable-next-line no-control-regex
const SIGNS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
/** Unchanged keys: their values are sent back, or shown by their own component. */
const UNCHANGED: ReadonlySet<string> = new Set(["json", "yaml", "value", "plaintext"]);

/** The text with each such character replaced by U+FFFD. */
export function plain(text: string): string {
  return text.replace(SIGNS, "\uFFFD");
}

/** The text with such characters as JSON escapes, for values whose every character matters. */
export function escaped(text: string): string {
  return text.replace(SIGNS, (sign) => String.raw`\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The response with sanitised texts. Inputs, outputs and other JSON of users stay unchanged. */
export function plainAnswer<Data>(data: Data): Data {
  // The root of an operation has no `__typename`.
  return (data === null || typeof data !== "object" ? data : withPlain(data)) as Data;
}

function changed(value: unknown): unknown {
  if (Array.isArray(value)) return mapped(value, changed);
  return value !== null && typeof value === "object" && "__typename" in value ? withPlain(value) : value;
}

function withPlain(value: object): object {
  let found: Record<string, unknown> | null = null;
  // A hot path: no array of entries per object.
  for (const key in value) {
    const held = (value as Record<string, unknown>)[key];
    if (held === null || (typeof held !== "string" && typeof held !== "object") || UNCHANGED.has(key)) continue;
    const now =
      typeof held === "string" ? plain(held) : Array.isArray(held) ? mapped(held, changedItem) : changed(held);
    if (now !== held) (found ??= { ...value })[key] = now;
  }
  return found ?? value;
}

/** An item of a list, which may be a text itself. */
function changedItem(item: unknown): unknown {
  return typeof item === "string" ? plain(item) : changed(item);
}

/** A list with each item changed; the same list when none was. */
function mapped(list: readonly unknown[], change: (item: unknown) => unknown): readonly unknown[] {
  let found: unknown[] | null = null;
  for (const [index, item] of list.entries()) {
    const now = change(item);
    if (now !== item) (found ??= [...list])[index] = now;
  }
  return found ?? list;
}
