// The address the page was opened with. The router removes from it what the validation of its route does not know.

import { parseSearch } from "./search.ts";

let opened: { pathname: string; search: Record<string, unknown> } | null = null;

/** Called once, before the router starts. */
export function rememberOpened({ pathname, search }: { pathname: string; search: string }): void {
  opened = { pathname, search: parseSearch(search) };
}

/** The search of the address the page was opened with, while it is still at that path; empty otherwise. */
export function openedSearch(pathname: string): Record<string, unknown> {
  return opened?.pathname === pathname ? opened.search : {};
}

export function forgetOpened(): void {
  opened = null;
}
