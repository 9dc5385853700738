import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { FilterBar, SearchBox } from "../../components/Filters.tsx";
import { Kinds } from "../../components/Kinds.tsx";
import { lost } from "../../components/Notice.tsx";
import { Empty, Page, Unread } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { StateGlyph } from "../../components/StateMark.tsx";
import { Usage } from "../../components/Usage.tsx";
import { humanise } from "../../lib/format.ts";
import type { RequirementKind } from "../../lib/fragments.generated.ts";
import { STATES } from "../../lib/states.ts";
import { PipelinesDocument, type PipelinesQuery } from "./pipelines.generated.ts";

export function PipelinesPage(): ReactNode {
  const search = useSearch({ from: "/pipelines" });
  const navigate = useNavigate({ from: "/pipelines" });
  const filter = search.q === undefined ? {} : { text: search.q };
  const [{ data, fetching, error }] = useQuery({ query: PipelinesDocument, variables: { filter, ...pageArguments(search) } });
  return (
    <Page
      title="Pipelines"
      lead="Steps in order, run with one click and resumed where they break."
      actions={
        <ButtonLink kind="primary" to="/pipelines/new">
          New pipeline
        </ButtonLink>
      }
    >
      <FilterBar>
        <SearchBox label="Search pipelines" text={search.q ?? ""} onSearch={(q) => void navigate({ search: q === "" ? {} : { q }, replace: true })} />
      </FilterBar>
      {data === undefined ? (
        <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />
      ) : data.pipelines.nodes.length === 0 ? (
        <Empty>No pipeline fits “{search.q}”.</Empty>
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
    </Page>
  );
}

function Row({ pipeline }: { pipeline: PipelinesQuery["pipelines"]["nodes"][number] }): ReactNode {
  const { key, name, metadata, availability, latestRun } = pipeline;
  const params = { pipeline: key };
  return (
    <li className="relative flex items-center gap-6 px-2 py-2.5 hover:bg-hover max-md:flex-wrap max-md:gap-2">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link to="/pipelines/$pipeline" params={params} className="font-medium text-ink no-underline after:absolute after:inset-0 hover:underline">
            {name}
          </Link>
          <span className="text-dense text-soft">
            <Kinds accepts={metadata.accepts} produces={metadata.produces} />
          </span>
        </p>
        <p className="truncate text-dense text-soft">{pipeline.steps.map((step) => humanise(step.key)).join(" → ")}</p>
      </div>
      <p className="inline-flex w-80 items-center gap-1.5 text-dense text-soft max-md:w-auto">
        {latestRun === null ? null : (
          <>
            <StateGlyph state={latestRun.state} />
            <span className="sr-only">Last run {STATES[latestRun.state].word}. </span>
          </>
        )}
        <Usage usage={pipeline.usage} />
      </p>
      <div className="relative flex w-36 justify-end max-md:w-auto">
        {availability.usable ? (
          <ButtonLink to="/pipelines/$pipeline/run" params={params} aria-label={`Run ${name}`}>
            Run…
          </ButtonLink>
        ) : (
          <Link to="/pipelines/$pipeline" params={params} className="text-right text-dense text-warn hover:underline" title={availability.missing.map(({ message }) => message).join(" ")}>
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
  SESSION: "Needs session",
};

/** Why it cannot run here, in place of a button that would fail. */
function needed(missing: { kind: RequirementKind; name: string } | undefined): string {
  return missing === undefined ? "Cannot run here" : `${NEEDS[missing.kind]} ${missing.name}`;
}
