import { textOf } from "../../lib/browser/search.ts";

export interface CredentialsSearch {
  /** The key of a credential something asks for: the form opens with it. */
  need?: string | undefined;
  /** The page to return to, such as a failed run. */
  return?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export type CredentialSearch = Pick<CredentialsSearch, "return">;

export function credentialsSearch(given: Record<string, unknown>): CredentialsSearch {
  return {
    need: textOf(given["need"]),
    return: localPath(given["return"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}

export function credentialSearch(given: Record<string, unknown>): CredentialSearch {
  return { return: localPath(given["return"]) };
}

/** A local path, or undefined for an address on another site. */
export function localPath(value: unknown): string | undefined {
  const text = textOf(value);
  // Browsers drop tabs and line breaks of an address before they read it: `/<tab>/elsewhere` is `//elsewhere`.
  // oxlint-disable-next-line no-control-regex -- these are what is looked for
  if (text === undefined || !/^\/(?!\/)[^\\\u0000-\u001f]*$/.test(text)) return undefined;
  return text;
}
