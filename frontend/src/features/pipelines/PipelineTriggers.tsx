import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { LoadingOrProblem, Section } from "../../components/Page.tsx";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { TriggerTable } from "../../domain/triggers/TriggerTable.tsx";
import { useWhenPassed } from "../../domain/triggers/useWhenPassed.ts";
import { problemOfError } from "../../lib/server/problem.ts";
import { PipelineTriggersDocument } from "./pipelines.generated.ts";

/** Triggers of a pipeline, as far as the caller may see them. */
export function PipelineTriggers({ pipeline }: { pipeline: string }): ReactNode {
  const [{ data, fetching, error }, ask] = useQuery({ query: PipelineTriggersDocument, variables: { pipeline } });
  const again = () => ask({ requestPolicy: "network-only" });
  useRunChanges(again);
  const triggers = data?.triggers.nodes ?? [];
  useWhenPassed(
    triggers.map(({ nextAt }) => nextAt),
    again,
  );
  return (
    <Section
      title="Triggers"
      more={
        <span className="flex flex-wrap gap-x-4 gap-y-1 text-dense">
          {data?.triggers.pageInfo.hasNextPage === true ? (
            <Link to="/triggers" search={{ pipeline }} className="link">
              View all
            </Link>
          ) : null}
          <Link to="/triggers/new" search={{ pipeline }} className="link">
            Add a schedule
          </Link>
          <Link to="/triggers/new" search={{ pipeline, kind: "webhook" }} className="link">
            Add a webhook
          </Link>
          <Link to="/triggers/new" search={{ pipeline, kind: "run-ended" }} className="link">
            Add a run-ended trigger
          </Link>
        </span>
      }
    >
      {data === undefined ? (
        <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
      ) : triggers.length === 0 ? (
        <p className="text-soft">
          Runs start only on request. A schedule starts them at set times, a webhook when another service calls, a
          trigger for ended runs when runs of other pipelines end.
        </p>
      ) : (
        <TriggerTable triggers={triggers} label="Triggers" ofOne />
      )}
    </Section>
  );
}
