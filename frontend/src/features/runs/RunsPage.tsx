import { Link, useNavigate, useRouter, useSearch } from "@tanstack/react-router";
import { type ReactNode, Suspense, useEffect, useState } from "react";
import { useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { FilterChips } from "../../components/FilterChips.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { RunTable } from "../../domain/runs/RunTable.tsx";
import { LazyDialogFallback } from "../../components/LazyFallback.tsx";
import { serverNow } from "../../lib/time/clock.ts";
import { lazyComponent } from "../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../lib/server/lazyLoad.ts";
import { groupEqualFailures } from "../../domain/runs/equalFailures.ts";
import { rememberList } from "../../domain/runs/listNavigation.ts";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { useActions } from "../../lib/browser/shortcuts.ts";
import { CAUSES, STATES } from "../../domain/runs/states.ts";
import { type BulkAction, BULK_ACTIONS } from "./bulk.ts";
import {
  emptySentence,
  FILTERS,
  type Filters,
  filterOf,
  filtersOf,
  RUN_STATES,
  runsSearch,
  type RunsSearch,
  type Since,
  SINCE,
  VIEWS,
} from "./filter.ts";
import type { RunRowFragment } from "../../domain/fragments.generated.ts";
import { RunActorsDocument, type RunCause, RunFiltersDocument, RunsDocument } from "./runs.generated.ts";
import { useSavedViews } from "./views.ts";
import { Views } from "./Views.tsx";

const loadBulk = lazyLoad(() => import("./BulkDialog.tsx"));
const BulkDialog = lazyComponent(loadBulk, "BulkDialog");

/** Rows slide in only where nobody is reading further down. */
const TOP_PX = 80;
/** Maximum number of runs in a bulk action. */
const MOST_PICKED = 200;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, undefined])) as Filters;

export function RunsPage(): ReactNode {
  const given = useSearch({ from: "/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const router = useRouter();
  const views = useSavedViews();
  const own = views.find(({ name }) => name === given.view);
  // A saved view adds its filters; those in the address take precedence.
  const search: RunsSearch = { ...given, ...own?.filters, ...filtersOf(given) };
  const [{ data, fetching, error, stale }, again] = useQuery({
    query: RunsDocument,
    variables: { filter: filterOf(search, serverNow()), ...pageArguments(search) },
  });
  const [unseen, setUnseen] = useState<ReadonlySet<string>>(new Set());
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [act, setAct] = useState<BulkAction | null>(null);
  const first = search.after === undefined && search.before === undefined;
  const runs = data?.runs.nodes ?? [];
  const shown = new Set(runs.map((run) => run.id));

  useRunChanges(({ runs: changed, deletedIds, more }) => {
    const strangers = changed.filter((run) => !shown.has(run.id)).map((run) => run.id);
    const gone = deletedIds.some((id) => shown.has(id));
    // Only the server knows whether a changed row still matches the filters.
    const filtered = search.view !== undefined || search.status !== undefined;
    if (!more && strangers.length === 0 && !gone && !filtered) return;
    if (window.scrollY < TOP_PX) again({ requestPolicy: "network-only" });
    else setUnseen((known) => new Set([...known, ...strangers]));
  });

  const ids = runs.map(({ id }) => id).join(" ");
  const { href } = router.history.location;
  useEffect(() => rememberList({ ids: ids.split(" "), href }), [ids, href]);
  useListKeys();

  // With other filters than its own, a saved view is no longer active.
  const set = (change: Partial<RunsSearch>) =>
    void navigate({
      to: "/runs",
      search: (kept: RunsSearch) => ({
        ...kept,
        ...own?.filters,
        ...filtersOf(kept),
        ...(own === undefined ? {} : { view: undefined }),
        ...change,
        after: undefined,
        before: undefined,
      }),
      replace: true,
    });
  const pick = (chosen: readonly string[], on: boolean) =>
    setPicked(
      (known) =>
        new Set(
          [...known]
            .filter((id) => !chosen.includes(id))
            .concat(on ? chosen : [])
            .slice(0, MOST_PICKED),
        ),
    );
  return (
    <Page title="Runs">
      <Views chosen={search.view} kept={views} filters={filtersOf(search)} />
      <Filtering search={search} found={data?.runs.totalCount} set={set} />
      {given.view === undefined || own !== undefined || VIEWS.some(({ view }) => view === given.view) ? null : (
        <p role="status" className="mb-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2 wrap-anywhere">
          This browser has no view <code className="font-mono text-dense">{given.view}</code>. The list shows all runs.
        </p>
      )}
      {unseen.size === 0 || !first ? null : (
        <p className="sticky top-2 z-2 mb-2">
          <Button
            onClick={() => {
              setUnseen(new Set());
              again({ requestPolicy: "network-only" });
              window.scrollTo({ top: 0 });
            }}
          >
            {unseen.size.toLocaleString()} new
          </Button>
        </p>
      )}
      {picked.size === 0 ? null : (
        <Picked
          picked={picked}
          similar={countSimilar(runs, picked)}
          onAct={setAct}
          onClear={() => setPicked(new Set())}
        />
      )}
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : runs.length === 0 && !stale ? (
        <Nothing search={search} />
      ) : (
        <>
          <RunTable runs={runs} label="Runs" picked={picked} onPick={pick} />
          <Pager info={data.runs.pageInfo} place={search} />
        </>
      )}
      <Suspense fallback={<LazyDialogFallback onClose={() => setAct(null)} />}>
        {act === null ? null : (
          <BulkDialog act={act} ids={[...picked]} onClose={() => setAct(null)} onDone={() => setPicked(new Set())} />
        )}
      </Suspense>
    </Page>
  );
}

function Nothing({ search }: { search: RunsSearch }): ReactNode {
  if (search.view === undefined && Object.keys(filtersOf(search)).length === 0)
    return (
      <Empty action={<ButtonLink to="/pipelines">Choose a pipeline to run</ButtonLink>} command="packline run sample">
        {emptySentence(search)} A run executes a pipeline and keeps the input, output and log of every step. If a step
        fails, you resume the run from there.
      </Empty>
    );
  return (
    <Empty
      action={
        <ButtonLink to="/runs" search={{}}>
          All runs
        </ButtonLink>
      }
    >
      {emptySentence(search)}
    </Empty>
  );
}

function walk(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>("tr[data-run] a[data-open]")];
  const place = rows.indexOf(document.activeElement as HTMLElement);
  rows[place === -1 ? (by === 1 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, place + by))]?.focus();
}

/** `j` and `k` walk the rows, `f` goes to the filters. */
function useListKeys(): void {
  useActions("This list", [
    { keys: "j", says: "Next row", quiet: true, act: () => walk(1) },
    { keys: "k", says: "Previous row", quiet: true, act: () => walk(-1) },
    { keys: "f", says: "Filter", act: () => document.querySelector<HTMLElement>("#filters select")?.focus() },
  ]);
}

interface FilteringProps {
  search: RunsSearch;
  found: number | undefined;
  set: (change: Partial<RunsSearch>) => void;
}

function Filtering({ search, found, set }: FilteringProps): ReactNode {
  const [{ data: choices }] = useQuery({ query: RunFiltersDocument });
  const viewer = choices?.viewer;
  const [{ data: others }] = useQuery({ query: RunActorsDocument, pause: viewer?.scopes.includes("MANAGE") !== true });
  const pipelines = (choices?.pipelines.nodes ?? []).map(({ key, name }) => [key, name] as const);
  const known = others?.callers.nodes ?? (viewer === undefined ? [] : [viewer]);
  const actors = known.map(({ id, name }) => [id, name] as const);
  const chips = [
    chip("status", search.status === undefined ? undefined : STATES[search.status].word),
    chip(
      "pipeline",
      search.pipeline === undefined
        ? undefined
        : (pipelines.find(([key]) => key === search.pipeline)?.[1] ?? search.pipeline),
    ),
    chip(
      "actor",
      search.actor === undefined ? undefined : `by ${actors.find(([id]) => id === search.actor)?.[1] ?? search.actor}`,
    ),
    chip("cause", search.cause === undefined ? undefined : `started by ${CAUSES[search.cause]}`),
    chip("since", search.since === undefined ? undefined : `in ${SINCE[search.since].word}`),
    chip("q", search.q === undefined ? undefined : `“${search.q}”`),
  ].flat();

  function chip(name: keyof Filters, says: string | undefined) {
    return says === undefined ? [] : [{ name, says, off: () => set({ [name]: undefined }) }];
  }

  return (
    <>
      <div id="filters">
        <FilterBar
          search={
            <SearchBox
              label="Search runs"
              text={search.q ?? ""}
              onSearch={(q) => set({ q: q === "" ? undefined : q })}
            />
          }
          reads={runsSearch}
          found={[found, "run"]}
          chosen={
            [search.status, search.pipeline, search.actor, search.cause, search.since].filter(
              (one) => one !== undefined,
            ).length
          }
        >
          <FilterSelect
            label="State"
            value={search.status}
            choices={RUN_STATES.map((state) => [state, STATES[state].word] as const)}
            onChange={(status) => set({ status })}
          />
          <FilterSelect
            label="Pipeline"
            value={search.pipeline}
            choices={pipelines}
            onChange={(pipeline) => set({ pipeline })}
          />
          <FilterSelect label="By" value={search.actor} choices={actors} onChange={(actor) => set({ actor })} />
          <FilterSelect
            label="Cause"
            value={search.cause}
            choices={Object.entries(CAUSES) as [RunCause, string][]}
            onChange={(cause) => set({ cause })}
          />
          <FilterSelect
            label="Since"
            value={search.since}
            choices={Object.entries(SINCE).map(([since, { word }]) => [since as Since, word] as const)}
            onChange={(since) => set({ since })}
          />
        </FilterBar>
      </div>
      <FilterChips chips={chips} onClear={() => set({ ...NO_FILTERS, view: undefined })} />
    </>
  );
}

/** How many of the selected runs a row of a similar selected run may stand for. */
function countSimilar(runs: readonly RunRowFragment[], picked: ReadonlySet<string>): number {
  return groupEqualFailures(runs)
    .filter(({ head }) => picked.has(head.id))
    .flatMap(({ others }) => others)
    .filter(({ id }) => picked.has(id)).length;
}

/** Bulk actions for the selected runs; two runs can be compared. */
function Picked({
  picked,
  similar,
  onAct,
  onClear,
}: {
  picked: ReadonlySet<string>;
  similar: number;
  onAct: (act: BulkAction) => void;
  onClear: () => void;
}): ReactNode {
  const [a, b] = [...picked];
  return (
    <div
      role="region"
      aria-label="Selected runs"
      className="sticky top-0 z-2 mb-2 flex flex-wrap items-center gap-2 rounded border border-line bg-panel px-3 py-2"
    >
      <span role="status" className="mr-2 font-medium">
        {picked.size} selected
        {similar === 0 ? "" : `, including ${similar} similar`}
      </span>
      {(Object.keys(BULK_ACTIONS) as BulkAction[]).map((act) => (
        <Button key={act} onClick={() => onAct(act)}>
          {BULK_ACTIONS[act].word}…
        </Button>
      ))}
      {picked.size === 2 && a !== undefined && b !== undefined ? (
        <Link to="/runs/compare" search={{ a: b, b: a }} className="link px-2">
          Compare
        </Link>
      ) : (
        <span className="px-2 text-soft">To compare, select two runs</span>
      )}
      <button type="button" className="link ml-auto" onClick={onClear}>
        Clear selection
      </button>
    </div>
  );
}
