import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { lost } from "../../components/Notice.tsx";
import { Empty, Page, Unread } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { RunTable } from "../../components/RunTable.tsx";
import { count } from "../../lib/format.ts";
import type { RunCause } from "../../lib/fragments.generated.ts";
import { useRunChanges } from "../../lib/runChanges.ts";
import { CAUSES, STATES } from "../../lib/states.ts";
import { emptySentence, filterOf, RUN_STATES, type RunsSearch, VIEWS } from "./filter.ts";
import { PipelineChoicesDocument, RunsDocument } from "./runs.generated.ts";

/** Rows slide in only where nobody is reading further down. */
const TOP_PX = 80;

export function RunsPage(): ReactNode {
  const search = useSearch({ from: "/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const [{ data, fetching, error, stale }, again] = useQuery({ query: RunsDocument, variables: { filter: filterOf(search), ...pageArguments(search) } });
  const [{ data: choices }] = useQuery({ query: PipelineChoicesDocument });
  const [unseen, setUnseen] = useState<ReadonlySet<string>>(new Set());
  const first = search.after === undefined && search.before === undefined;
  const shown = new Set(data?.runs.nodes.map((run) => run.id));

  useRunChanges(({ runs, deletedIds, more }) => {
    const strangers = runs.filter((run) => !shown.has(run.id)).map((run) => run.id);
    const gone = deletedIds.some((id) => shown.has(id));
    // Of the filters only the server knows whether a changed row still fits: it is asked.
    const filtered = search.view !== undefined || search.state !== undefined;
    if (!more && strangers.length === 0 && !gone && !filtered) return;
    if (window.scrollY < TOP_PX) again({ requestPolicy: "network-only" });
    else setUnseen((known) => new Set([...known, ...strangers]));
  });

  const set = (change: Partial<RunsSearch>) => void navigate({ to: "/runs", search: (kept: RunsSearch) => ({ ...kept, ...change, after: undefined, before: undefined }), replace: true });
  const pipelines = (choices?.pipelines.nodes ?? []).map(({ key, name }) => [key, name] as const);
  return (
    <Page title="Runs">
      <nav aria-label="Views" className="mb-3 flex gap-5 overflow-x-auto border-b border-line">
        {VIEWS.map(({ view, word }) => (
          <Link
            key={word}
            to="/runs"
            search={view === undefined ? {} : { view }}
            aria-current={search.view === view ? "page" : undefined}
            className={`-mb-px border-b-2 pb-1.5 font-medium whitespace-nowrap ${search.view === view ? "border-accent text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {word}
          </Link>
        ))}
      </nav>
      <FilterBar>
        <SearchBox label="Search runs" text={search.q ?? ""} onSearch={(q) => set({ q: q === "" ? undefined : q })} />
        <FilterSelect label="State" value={search.state} choices={RUN_STATES.map((state) => [state, STATES[state].word] as const)} onChange={(state) => set({ state })} />
        <FilterSelect label="Pipeline" value={search.pipeline} choices={pipelines} onChange={(pipeline) => set({ pipeline })} />
        <FilterSelect label="Started by" value={search.cause} choices={Object.entries(CAUSES) as [RunCause, string][]} onChange={(cause) => set({ cause })} />
      </FilterBar>
      {unseen.size === 0 || !first ? null : (
        <p className="mb-2">
          <Button
            kind="quiet"
            onClick={() => {
              setUnseen(new Set());
              again({ requestPolicy: "network-only" });
              window.scrollTo({ top: 0 });
            }}
          >
            {count(unseen.size, "changed run")}
          </Button>
        </p>
      )}
      {data === undefined ? (
        <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />
      ) : data.runs.nodes.length === 0 && !stale ? (
        <Empty action={<Link to="/pipelines" className="link">Choose a pipeline to run</Link>}>{emptySentence(search)}</Empty>
      ) : (
        <>
          <RunTable runs={data.runs.nodes} label="Runs" />
          <Pager info={data.runs.pageInfo} place={search} />
        </>
      )}
    </Page>
  );
}
