import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { FilterBar, FilterSelect, SearchBox } from "../../components/Filters.tsx";
import { AreaIcon } from "../../domain/entries/AreaIcon.tsx";
import { areaOf } from "../../domain/entries/areas.ts";
import { Kinds } from "../../domain/entries/Kinds.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { Empty, Page, LoadingOrProblem } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { Usage } from "../../domain/entries/Usage.tsx";
import { humanise } from "../../lib/text/format.ts";
import type { RequirementKind } from "../../domain/fragments.generated.ts";
import { STATES } from "../../domain/runs/states.ts";
import { ImportDialog } from "./ImportDialog.tsx";
import {
  PipelineKindsDocument,
  type PipelineKindsQuery,
  PipelinesDocument,
  type PipelinesQuery,
} from "./pipelines.generated.ts";
import { RunBars } from "./RunBars.tsx";
import { pipelinesSearch, type PipelinesSearch } from "./search.ts";

export function PipelinesPage(): ReactNode {
  const search = useSearch({ from: "/pipelines" });
  const navigate = useNavigate({ from: "/pipelines" });
  const [importing, setImporting] = useState(false);
  const { q, accepts, produces, source } = search;
  const filter = {
    ...(q === undefined ? {} : { text: q }),
    ...(accepts === undefined ? {} : { accepts: [accepts] }),
    ...(produces === undefined ? {} : { produces: [produces] }),
    ...(source === undefined ? {} : { builtin: source === "starters" }),
  };
  const filtered = Object.keys(filter).length > 0;
  const set = (change: Partial<PipelinesSearch>): void =>
    void navigate({
      search: (kept: PipelinesSearch) => ({ ...kept, ...change, after: undefined, before: undefined }),
      replace: true,
    });
  const [{ data: kinds }] = useQuery({ query: PipelineKindsDocument, requestPolicy: "cache-first" });
  const [{ data, fetching, error }] = useQuery({
    query: PipelinesDocument,
    variables: { filter, ...pageArguments(search) },
  });
  return (
    <Page
      title="Pipelines"
      lead="Ordered steps. Start them with one click, and resume a failed run at the step that failed."
      actions={
        <>
          <Button onClick={() => setImporting(true)}>Import YAML…</Button>
          <ButtonLink kind="primary" to="/pipelines/new">
            New pipeline
          </ButtonLink>
        </>
      }
    >
      <FilterBar
        search={
          <SearchBox
            label="Search pipelines"
            text={q ?? ""}
            onSearch={(text) => set({ q: text === "" ? undefined : text })}
          />
        }
        reads={pipelinesSearch}
        found={[data?.pipelines.totalCount, "pipeline"]}
        chosen={[accepts, produces, source].filter((one) => one !== undefined).length}
      >
        <FilterSelect
          label="Accepts"
          value={accepts}
          choices={choicesOf(kinds, "accepts", accepts)}
          onChange={(kind) => set({ accepts: kind })}
        />
        <FilterSelect
          label="Produces"
          value={produces}
          choices={choicesOf(kinds, "produces", produces)}
          onChange={(kind) => set({ produces: kind })}
        />
        <FilterSelect
          label="Source"
          value={source}
          choices={[
            ["starters", "Ships with Packline"],
            ["own", "Made here"],
          ]}
          onChange={(place) => set({ source: place })}
        />
      </FilterBar>
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.pipelines.nodes.length === 0 ? (
        filtered ? (
          <Empty
            action={
              <ButtonLink to="/pipelines" search={{}}>
                All pipelines
              </ButtonLink>
            }
          >
            No pipeline matches.
          </Empty>
        ) : (
          <Empty command="packline apply -f pipeline.yaml">
            There are no pipelines yet. A pipeline is a list of steps in a fixed order, which people, agents and
            schedules run by its name.
          </Empty>
        )
      ) : (
        <>
          <ul className="divide-y divide-line border-y border-line">
            {data.pipelines.nodes.map((pipeline) => (
              <Row key={pipeline.id} pipeline={pipeline} />
            ))}
          </ul>
          <Pager info={data.pipelines.pageInfo} place={search} />
        </>
      )}
      {importing ? <ImportDialog onClose={() => setImporting(false)} /> : null}
    </Page>
  );
}

/** The kinds that some pipeline takes or makes, and the one that is chosen. */
function choicesOf(
  kinds: PipelineKindsQuery | undefined,
  field: "accepts" | "produces",
  chosen: string | undefined,
): (readonly [string, string])[] {
  const found = new Set(kinds?.pipelines.nodes.flatMap(({ metadata }) => metadata[field]));
  if (chosen !== undefined) found.add(chosen);
  return [...found].sort().map((kind) => [kind, kind.replaceAll("_", " ")] as const);
}

function Row({ pipeline }: { pipeline: PipelinesQuery["pipelines"]["nodes"][number] }): ReactNode {
  const { key, name, metadata, availability } = pipeline;
  const runs = pipeline.runs.nodes;
  const [latestRun] = runs;
  const params = { pipeline: key };
  return (
    <li className="relative flex items-center gap-4 px-2 py-2.5 hover:bg-hover max-md:flex-wrap max-md:gap-2">
      <AreaIcon area={areaOf(pipeline)} />
      <div className="min-w-0 flex-1 max-md:basis-[80%]">
        <p className="flex items-baseline gap-x-3 max-xl:flex-wrap">
          <Link
            to="/pipelines/$pipeline"
            params={params}
            className="shrink-0 font-medium text-ink no-underline after:absolute max-xl:shrink after:inset-0 hover:underline"
          >
            {name}
          </Link>
          <span className="truncate text-dense text-soft max-xl:whitespace-normal">
            {metadata.practice ? "for practice" : ""}
            {metadata.practice && metadata.accepts.length + metadata.produces.length > 0 ? " · " : ""}
            <Kinds accepts={metadata.accepts} produces={metadata.produces} most={3} />
          </span>
        </p>
        <p className="truncate text-dense text-soft max-xl:whitespace-normal">
          {pipeline.steps.map((step) => humanise(step.key)).join(" → ")}
          {pipeline.builtin ? "" : " · made here"}
        </p>
      </div>
      <div className="relative w-[5.25rem] shrink-0 max-lg:hidden">
        <RunBars runs={runs} />
      </div>
      <p className="inline-flex w-80 items-center gap-1.5 text-dense text-soft max-xl:w-44 max-md:w-auto max-md:flex-1">
        {latestRun === undefined ? null : (
          <>
            <StateGlyph state={latestRun.state} />
            <span className="sr-only">Last run {STATES[latestRun.state].word}. </span>
          </>
        )}
        <Usage usage={pipeline.usage} />
      </p>
      <div className="relative flex w-34 justify-end max-md:w-auto">
        {availability.usable ? (
          <ButtonLink to="/pipelines/$pipeline/run" params={params} aria-label={`Run ${name}`}>
            Run…
          </ButtonLink>
        ) : (
          <Link
            to="/pipelines/$pipeline"
            params={params}
            className="text-right text-dense text-warn hover:underline"
            title={availability.missing.map(({ message }) => message).join(" ")}
          >
            {needed(availability.missing[0])}
          </Link>
        )}
      </div>
    </li>
  );
}

const NEEDS: Record<RequirementKind, string> = {
  CREDENTIAL: "Needs credential",
  INPUT: "Needs input",
  MODEL: "Needs a model:",
  PACK: "Needs pack",
  SERVICE: "Needs service",
  AGENT_PROFILE: "Needs agent",
  ISOLATION: "Needs isolation",
  SESSION: "Needs session",
};

/** Why it cannot run here, in place of a button that would fail. */
function needed(missing: { kind: RequirementKind; name: string } | undefined): string {
  return missing === undefined ? "Cannot run here" : `${NEEDS[missing.kind]} ${missing.name}`;
}
