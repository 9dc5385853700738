import type { ReactNode } from "react";

import { StateGlyph } from "../../domain/runs/StateMark.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { count } from "../../lib/text/format.ts";
import type { WorkersQuery } from "./settings.generated.ts";

/** The processes that execute runs, and how many runs wait for one. */
export function Workers({ workers, server }: WorkersQuery): ReactNode {
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
            <span className="text-soft">
              {worker.running} of {count(worker.lanes, "run")} · release {worker.release} · started{" "}
              <Timestamp at={worker.startedAt} />
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
