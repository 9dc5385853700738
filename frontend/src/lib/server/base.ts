// The page's base path on its server, and the version it was built for.

declare const PACKLINE_VERSION: string;

function basePath(): string {
  if (typeof document === "undefined") return "";
  return document.querySelector<HTMLMetaElement>('meta[name="packline-base"]')?.content ?? "";
}

/** The base path, such as `/tools/pipes`; empty at the root. */
export const BASE = basePath();

export const VERSION = PACKLINE_VERSION;

/** The path below the base path. */
export function withBase(path: string): string {
  return BASE + path;
}
