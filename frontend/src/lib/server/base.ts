// Where the page lies on its server, and which version of the product it was built for.

declare const PACKLINE_VERSION: string;

function basePath(): string {
  if (typeof document === "undefined") return "";
  return document.querySelector<HTMLMetaElement>('meta[name="packline-base"]')?.content ?? "";
}

/** The path everything lies below, such as `/tools/pipes`; empty at the root. */
export const BASE = basePath();

export const VERSION = PACKLINE_VERSION;

/** An address of this server by its path. */
export function withBase(path: string): string {
  return BASE + path;
}
