// Texts that people, agents and services chose, made fit to stand in a line of ours. A sign that turns the direction of
// writing makes a name read as another one, such as `invoiceexe.pdf`, and reaches into what stands after it.

/** Control characters but for line breaks and tabs, and what turns the direction of writing; as on the command line. */
// oxlint-disable-next-line no-control-regex
const SIGNS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
/** What stays as it is: it is sent back, or a component of its own shows it. */
const UNCHANGED: ReadonlySet<string> = new Set(["json", "yaml", "value", "plaintext"]);

/** The text with a replacement character in place of every sign that would change how it is read. */
export function plain(text: string): string {
  return text.replace(SIGNS, "\uFFFD");
}

/** The text with those signs written as JSON escapes them, for where every character of a value matters. */
export function escaped(text: string): string {
  return text.replace(SIGNS, (sign) => String.raw`\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** What the server answered, its texts plain. Inputs, outputs and other JSON of the users' stay as they are. */
export function plainAnswer<Data>(data: Data): Data {
  // Only what lies below the operation itself tells its type.
  return (data === null || typeof data !== "object" ? data : withPlain(data)) as Data;
}

function changed(value: unknown): unknown {
  if (Array.isArray(value)) return mapped(value, changed);
  return value !== null && typeof value === "object" && "__typename" in value ? withPlain(value) : value;
}

function withPlain(value: object): object {
  let found: Record<string, unknown> | null = null;
  // Asked of every answer, so without a list of entries for each object.
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
