/** A text of the address, or nothing. The router reads `?q=12` as a number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A text of the address that is one of those known. */
export function oneOf<Value extends string>(value: unknown, known: readonly Value[]): Value | undefined {
  return known.find((one) => one === value);
}
