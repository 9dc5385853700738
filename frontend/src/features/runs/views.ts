// Views of one's own: filters under a name, kept in this browser.

import { useSyncExternalStore } from "react";

import { type Filters, filtersOf, runsSearch, VIEWS } from "./filter.ts";

export interface View {
  name: string;
  filters: Filters;
}

const KEY = "packline.runs.views";
/** More would not fit beside each other. */
export const MAX_VIEWS = 8;
const listeners = new Set<() => void>();
let read: { text: string | null; views: readonly View[] } = { text: null, views: [] };

/** The views kept; what is kept and cannot be read counts as none. */
export function savedViews(): readonly View[] {
  const text = localStorage.getItem(KEY);
  if (text !== read.text) read = { text, views: parsed(text) };
  return read.views;
}

function parsed(text: string | null): View[] {
  try {
    const found = JSON.parse(text ?? "[]") as unknown;
    if (!Array.isArray(found)) return [];
    return found.flatMap((view: { name?: unknown; filters?: unknown }) =>
      typeof view.name === "string" && view.filters !== null && typeof view.filters === "object"
        ? [{ name: view.name, filters: filtersOf(runsSearch(view.filters as Record<string, unknown>)) }]
        : [],
    );
  } catch {
    return [];
  }
}

function keep(views: readonly View[]): void {
  localStorage.setItem(KEY, JSON.stringify(views));
  for (const listener of listeners) listener();
}

/** Keeps a view; one of the same name is replaced. */
export function saveView(view: View): void {
  keep([...savedViews().filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS));
}

export function deleteView(name: string): void {
  keep(savedViews().filter((view) => view.name !== name));
}

/** Whether a name can be given to a view: the ones that come with the page are taken. */
export function isFree(name: string): boolean {
  const wanted = name.trim().toLowerCase();
  return wanted !== "" && !VIEWS.some(({ view, word }) => view === wanted || word.toLowerCase() === wanted);
}

export function useSavedViews(): readonly View[] {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    addEventListener("storage", listener);
    return () => {
      listeners.delete(listener);
      removeEventListener("storage", listener);
    };
  }, savedViews);
}
