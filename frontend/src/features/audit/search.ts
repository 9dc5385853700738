import { textOf } from "../../lib/browser/search.ts";
import type { AuditQueryVariables } from "./audit.generated.ts";

export interface AuditSearch {
  q?: string | undefined;
  action?: string | undefined;
  actor?: string | undefined;
  /** First and last day, as `2026-11-22`, in the reader's zone. */
  from?: string | undefined;
  to?: string | undefined;
  after?: string | undefined;
  before?: string | undefined;
}

export function auditSearch(given: Record<string, unknown>): AuditSearch {
  return {
    q: textOf(given["q"]),
    action: textOf(given["action"]),
    actor: textOf(given["actor"]),
    from: dayOf(given["from"]),
    to: dayOf(given["to"]),
    after: textOf(given["after"]),
    before: textOf(given["before"]),
  };
}

function dayOf(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : undefined;
}

/** What the address asks for, as the API takes it. */
export function auditFilter(search: AuditSearch): NonNullable<AuditQueryVariables["filter"]> {
  return {
    ...(search.q === undefined ? {} : { text: search.q }),
    ...(search.action === undefined ? {} : { actions: [search.action] }),
    ...(search.actor === undefined ? {} : { actors: [search.actor] }),
    ...(search.from === undefined ? {} : { createdFrom: startOf(search.from, 0) }),
    ...(search.to === undefined ? {} : { createdBefore: startOf(search.to, 1) }),
  };
}

function startOf(day: string, later: number): string {
  const date = new Date(`${day}T00:00:00`);
  date.setDate(date.getDate() + later);
  return date.toISOString();
}
