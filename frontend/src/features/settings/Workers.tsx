import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { count } from "../../lib/text/format.ts";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { DrainWorkerDocument, type WorkersQuery } from "./settings.generated.ts";

/** The processes that execute runs, and what waits for them. */
export function Workers({ workers, server, queue }: WorkersQuery): ReactNode {
  const [, drain] = useMutation(DrainWorkerDocument);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function setDraining(name: string, draining: boolean): Promise<void> {
    const answer = await drain({ name, draining });
    setProblem(outcomeOf(answer.error, answer.data?.drainWorker, "DrainWorkerSuccess").refusal);
  }

  return (
    <>
      <p className="mb-2 text-soft">
        {count(workers.filter(({ alive }) => alive).length, "worker")} alive ·{" "}
        {server.oldestQueuedAt === null ? (
          "no run queued"
        ) : (
          <>
            {count(server.queuedRuns, "run")} queued, the oldest <Timestamp at={server.oldestQueuedAt} relative />
          </>
        )}
      </p>
      {queue
        .filter(({ missing }) => missing.length > 0)
        .map(({ needs, runs, missing }) => (
          <p key={needs.join()} className="mb-2 text-warn">
            No worker serves {missing.join(", ")} · {count(runs, "run")} waiting
          </p>
        ))}
      {problem === null ? null : (
        <p role="alert" className="mb-2 text-warn">
          {problem.message}
        </p>
      )}
      <ul className="divide-y divide-line border-y border-line text-dense">
        {workers.map((worker) => (
          <li key={worker.name} className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <StateGlyph state={worker.alive ? "SUCCEEDED" : "LOST"} />
            <span className="font-mono wrap-anywhere" title={worker.machine}>
              {worker.name}
            </span>
            {worker.alive ? null : (
              <span className="text-warn">
                not seen since <Timestamp at={worker.lastSeenAt} />
              </span>
            )}
            {worker.alive && worker.draining ? (
              <span className="text-warn">{worker.running > 0 ? "draining" : "drained"}</span>
            ) : null}
            <span className="text-soft">
              {worker.running} of {count(worker.lanes, "run")} · release {worker.release} · started{" "}
              <Timestamp at={worker.startedAt} relative />
            </span>
            {worker.alive ? (
              <button
                type="button"
                className="link ml-auto"
                aria-label={worker.draining ? `Let ${worker.name} take runs` : `Drain ${worker.name}`}
                onClick={() => void setDraining(worker.name, !worker.draining)}
              >
                {worker.draining ? "Take runs" : "Drain"}
              </button>
            ) : null}
          </li>
        ))}
      </ul>
    </>
  );
}
