// Reads untrusted values with functions that would throw on them; these never throw.

/** The record's own property: an untrusted name such as `constructor` must not reach the prototype. */
export function own<Value>(
  record: Readonly<Record<string, Value>> | null | undefined,
  name: string,
): Value | undefined {
  return record !== undefined && record !== null && Object.hasOwn(record, name) ? record[name] : undefined;
}

/** The parsed JSON, wrapped since it may be null; null for invalid JSON. */
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

/** A decoded part of an address; unchanged when it is badly encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A text encoded for an address; lone surrogates, which have no encoding, are replaced. */
export function encoded(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, "\uFFFD"));
}
