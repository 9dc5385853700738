import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useQuery } from "urql";

import { StateMark } from "../../domain/runs/StateMark.tsx";
import { useRunChanges } from "../../domain/runs/runChanges.ts";
import { StartedRunsDocument } from "./run.generated.ts";

/** The runs that triggers started because this one ended. */
export function StartedRuns({ run }: { run: string }): ReactNode {
  const [{ data }, ask] = useQuery({ query: StartedRunsDocument, variables: { run } });
  useRunChanges(() => ask({ requestPolicy: "network-only" }));
  const started = data?.runs.nodes ?? [];
  if (started.length === 0) return null;
  return (
    <ul aria-label="Runs it started" className="mt-1 text-dense text-soft">
      {started.map(({ id, title, state }) => (
        <li key={id} className="wrap-anywhere">
          Its end started{" "}
          <Link to="/runs/$run" params={{ run: id }} search={{}} className="link">
            {title}
          </Link>{" "}
          <StateMark state={state} />
        </li>
      ))}
      {data?.runs.pageInfo.hasNextPage === true ? <li>and more</li> : null}
    </ul>
  );
}
