import { parseSearchWith } from "@tanstack/react-router";

import { readJson } from "../json/untrusted.ts";

/**
 * Reads the search of an address. The router itself reads each value as JSON, and so `?q=1e3` as 1000.
 *
 * It quotes texts that would be JSON, hence the quotation marks; lists and objects it writes as JSON.
 */
export const parseSearch = parseSearchWith((text) => {
  const read = /^["[{]/.test(text) ? readJson(text) : null;
  return read === null ? text : read.json;
});

/** A text of the address, or nothing. The router reads `?q=12` as a number. */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** A number of the address that counts from 1, such as that of a version. */
export function numberOf(value: unknown): number | undefined {
  const text = textOf(value) ?? "";
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

/** A text of the address that is one of those known. */
export function oneOf<Value extends string>(value: unknown, known: readonly Value[]): Value | undefined {
  return known.find((one) => one === value);
}
