import type { ReactNode } from "react";

import { count, duration, money } from "../../lib/text/format.ts";
import { Timestamp } from "../../components/Timestamp.tsx";

interface Stats {
  runs: number;
  failed: number;
  medianDurationSeconds: number | null;
  medianCostUsd: number | null;
  lastRunAt: string | null;
}

/** Runs, failures, duration and cost of the last 30 days. */
export function Usage({ usage }: { usage: Stats }): ReactNode {
  if (usage.lastRunAt === null) return <span>never run here</span>;
  const parts = [count(usage.runs, "run")];
  if (usage.failed > 0) parts.push(`${usage.failed} failed`);
  const usual = [
    ...(usage.medianDurationSeconds === null ? [] : [duration(usage.medianDurationSeconds)]),
    ...(usage.medianCostUsd === null || usage.medianCostUsd === 0 ? [] : [money(usage.medianCostUsd)]),
  ];
  if (usual.length > 0) parts.push(`usually ${usual.join(", ")}`);
  return (
    <span>
      {parts.map((part) => (
        <span key={part}>
          <span className="whitespace-nowrap">{part}</span> ·{" "}
        </span>
      ))}
      <span className="whitespace-nowrap">
        last run <Timestamp at={usage.lastRunAt} relative />
      </span>
    </span>
  );
}
