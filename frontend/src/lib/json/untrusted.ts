// Reading what others wrote with what throws at it: each of these answers whatever it is given.

/** What a record holds under a name that somebody chose, such as `constructor`: never what every object has. */
export function own<Value>(
  record: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && record !== null && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The value of a JSON text, in a box of its own since it may be null; null when it is none. */
export function readJson(text: string): { json: unknown } | null {
  try {
    return { json: JSON.parse(text) as unknown };
  } catch {
    return null;
  }
}

/** A value as JSON; null when it is too deep or too long to be written. */
export function jsonOf(value: unknown, indent = 2): string | null {
  try {
    return JSON.stringify(value, null, indent);
  } catch {
    return null;
  }
}

/** A part of an address as text; as it is when it is not well encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A text as a part of an address; halves of characters, which have no encoding, are replaced. */
export function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));
}
