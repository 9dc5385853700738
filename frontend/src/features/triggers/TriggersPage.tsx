import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { FilterBar, FilterSelect } from "../../components/Filters.tsx";
import { Empty, LoadingOrProblem, Page } from "../../components/Page.tsx";
import { pageArguments, Pager } from "../../components/Pager.tsx";
import { AdminNav } from "../../domain/administration/AdminNav.tsx";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { TriggerTable } from "../../domain/triggers/TriggerTable.tsx";
import { useWhenPassed } from "../../domain/triggers/useWhenPassed.ts";
import { problemOfError } from "../../lib/server/problem.ts";
import { triggersSearch, type TriggersSearch } from "./search.ts";
import { TriggerPipelinesDocument, TriggersDocument } from "./triggers.generated.ts";

export function TriggersPage(): ReactNode {
  const search = useSearch({ from: "/triggers" });
  const navigate = useNavigate({ from: "/triggers" });
  const [{ data, fetching, error }, ask] = useQuery({
    query: TriggersDocument,
    variables: {
      pipeline: search.pipeline ?? null,
      needsAttention: search.state === undefined ? null : true,
      ...pageArguments(search),
    },
  });
  const [{ data: choices }] = useQuery({ query: TriggerPipelinesDocument });
  const again = () => ask({ requestPolicy: "network-only" });
  useRunChanges(again);
  useWhenPassed(data?.triggers.nodes.map(({ nextAt }) => nextAt) ?? [], again);
  const filter = (chosen: TriggersSearch) =>
    void navigate({ search: (kept: TriggersSearch) => ({ ...kept, ...chosen, after: undefined, before: undefined }) });
  const pipelines = (choices?.pipelines.nodes ?? []).map(({ key, name }) => [key, name] as const);
  const { pipeline } = search;
  const known =
    pipeline === undefined || pipelines.some(([key]) => key === pipeline)
      ? pipelines
      : [...pipelines, [pipeline, pipeline] as const];
  const filtered = pipeline !== undefined || search.state !== undefined;
  return (
    <Page
      title="Triggers"
      lead="Triggers start runs by themselves, as the person who created them."
      actions={
        <>
          <ButtonLink to="/triggers/new" search={{ pipeline, kind: "run-ended" }}>
            Add a run-ended trigger
          </ButtonLink>
          <ButtonLink to="/triggers/new" search={{ pipeline, kind: "webhook" }}>
            Add a webhook
          </ButtonLink>
          <ButtonLink kind="primary" to="/triggers/new" search={{ pipeline }}>
            Add a schedule
          </ButtonLink>
        </>
      }
    >
      <AdminNav />
      {data !== undefined && data.triggers.nodes.length === 0 && !filtered ? null : (
        <FilterBar
          reads={triggersSearch}
          found={[data?.triggers.totalCount, "trigger"]}
          chosen={[pipeline, search.state].filter((one) => one !== undefined).length}
        >
          <FilterSelect
            label="Pipeline"
            value={pipeline}
            choices={known}
            onChange={(chosen) => filter({ pipeline: chosen })}
          />
          <FilterSelect
            label="State"
            value={search.state}
            choices={[["attention", "Needs attention"]]}
            onChange={(chosen) => filter({ state: chosen })}
          />
        </FilterBar>
      )}
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : data.triggers.nodes.length === 0 ? (
        <Nothing search={search} />
      ) : (
        <>
          <TriggerTable triggers={data.triggers.nodes} label="Triggers" />
          <Pager info={data.triggers.pageInfo} place={search} />
        </>
      )}
    </Page>
  );
}

function Nothing({ search }: { search: TriggersSearch }): ReactNode {
  const all = (
    <ButtonLink to="/triggers" search={{}}>
      All triggers
    </ButtonLink>
  );
  if (search.state !== undefined)
    return (
      <Empty action={all}>
        No trigger needs attention. Packline lists those here that it had to pause, with the reason.
      </Empty>
    );
  if (search.pipeline !== undefined)
    return <Empty action={all}>This pipeline has no triggers. Runs start only on request.</Empty>;
  return (
    <Empty command={'packline trigger create sample "Weekday mornings" --cron "30 6 * * MON-FRI"'}>
      There are no triggers. A schedule starts runs of a pipeline at set times, such as every weekday at 09:00, with
      inputs that you fill in once. A webhook starts one whenever another service, such as GitHub, calls its address. A
      run-ended trigger starts one when others end, for example to post failures to a chat channel.
    </Empty>
  );
}
