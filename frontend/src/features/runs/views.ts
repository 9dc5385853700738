// Saved views: named filters, stored in this browser.

import { useSyncExternalStore } from "react";

import { type Filters, filtersOf, runsSearch, VIEWS } from "./filter.ts";

export interface View {
  name: string;
  filters: Filters;
}

const KEY = "packline.runs.views";
/** More tabs would not fit. */
export const MAX_VIEWS = 8;
const listeners = new Set<() => void>();
let read: { text: string | null; views: readonly View[] } = { text: null, views: [] };

/** The saved views; unreadable data counts as none. */
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

/** Saves a view; it replaces one with the same name. */
export function saveView(view: View): void {
  keep([...savedViews().filter(({ name }) => name !== view.name), view].slice(-MAX_VIEWS));
}

export function deleteView(name: string): void {
  keep(savedViews().filter((view) => view.name !== name));
}

/** Whether a view can have the name: built-in names are taken. */
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
