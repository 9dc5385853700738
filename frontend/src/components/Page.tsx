import { type ReactNode, useEffect, useState } from "react";

import { ContentBoundary } from "./ContentBoundary.tsx";
import { CopyButton } from "./CopyButton.tsx";
import type { Problem } from "../lib/server/problem.ts";
import { Notice } from "./Notice.tsx";

/** A page's heading and body; sets the title of the tab. */
export function Page({
  title,
  actions,
  children,
  lead,
}: {
  title: string;
  actions?: ReactNode;
  lead?: ReactNode;
  children: ReactNode;
}): ReactNode {
  useTitle(title);
  return (
    <>
      <header className="mb-4 flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0">
          <h1 className="wrap-anywhere">{title}</h1>
          {lead === undefined ? null : <div className="mt-0.5 text-soft">{lead}</div>}
        </div>
        {actions === undefined ? null : <div className="flex flex-wrap gap-2">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Packline`;
  }, [title]);
}

/** Says that the requested object does not exist, and links onward. */
export function NotFound({
  title,
  children,
  onward,
}: {
  title: string;
  children: ReactNode;
  onward: ReactNode;
}): ReactNode {
  return (
    <Page title={title}>
      <Empty action={onward}>{children}</Empty>
    </Page>
  );
}

/** Shown instead of an empty list: what it will hold, what to do about it, and the command that does so. */
export function Empty({
  children,
  action,
  command,
}: {
  children: ReactNode;
  action?: ReactNode;
  command?: string;
}): ReactNode {
  return (
    <div className="flex flex-col items-start gap-3 py-4 text-soft">
      <div className="max-w-reading">{children}</div>
      {action}
      {command === undefined ? null : (
        <p className="flex flex-wrap items-baseline gap-x-2 gap-y-1 text-dense">
          In a terminal:
          <code className="rounded border border-line bg-panel px-2 py-0.5 text-ink wrap-anywhere">{command}</code>
          <CopyButton text={command} what="command" />
        </p>
      )}
    </div>
  );
}

/** Shows nothing for the first 150 ms, then "Loading". */
export function Loading(): ReactNode {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <p role="status" className="py-6 text-soft">
      {late ? "Loading…" : ""}
    </p>
  );
}

interface Answer {
  fetching: boolean;
  problem: Problem | null;
  /** The heading over the problem, where the query is the whole page. */
  page?: string;
}

/** Shows that a query is loading, or why it failed. */
export function LoadingOrProblem({ fetching, problem, page }: Answer): ReactNode {
  if (problem === null || fetching) return <Loading />;
  if (page === undefined) return <Notice problem={problem} />;
  return (
    <Page title={page}>
      <Notice problem={problem} />
    </Page>
  );
}

export function Section({
  title,
  more,
  children,
}: {
  title: string;
  more?: ReactNode;
  children: ReactNode;
}): ReactNode {
  return (
    <section className="mb-8">
      <div className="mb-1 flex flex-wrap items-baseline justify-between gap-x-4">
        <h2>{title}</h2>
        {more}
      </div>
      <ContentBoundary what={title} of={[children]}>
        {children}
      </ContentBoundary>
    </section>
  );
}
