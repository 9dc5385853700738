import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Empty } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { OUTCOMES } from "../../domain/triggers/outcomes.ts";
import { StateMark } from "../../domain/runs/StateMark.tsx";
import type { FiringRowFragment } from "../../domain/triggers/triggers.generated.ts";

/** Firings of a trigger: when, what each led to, and why. */
export function Firings({ firings }: { firings: readonly FiringRowFragment[] }): ReactNode {
  if (firings.length === 0) return <Empty>It has not fired yet. Each firing is listed here with its run.</Empty>;
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label="Firings">
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-44">Due</th>
          <th className="w-36">Outcome</th>
          <th>Run or reason</th>
          <th className="w-32">State of the run</th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {firings.map((firing) => (
          <Row key={firing.id} firing={firing} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ firing: { scheduledAt, createdAt, outcome, reason, run } }: { firing: FiringRowFragment }): ReactNode {
  const { word, icon, ink } = OUTCOMES[outcome];
  return (
    <tr className="row group relative border-b border-line hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 max-md:[&>td]:pr-0">
      <td>
        <Timestamp at={scheduledAt ?? createdAt} />
        {scheduledAt === null ? <span className="text-soft"> on request</span> : null}
      </td>
      <td className={ink}>
        <span aria-hidden="true">{icon}</span> <span className="font-medium">{word}</span>
      </td>
      <td className="max-md:w-full">
        {run === null ? (
          <span className="text-soft wrap-anywhere">
            {reason === null ? outcome === "FIRED" ? "The run was deleted." : "" : <TextWithCode text={reason} />}
          </span>
        ) : (
          <Link
            to="/runs/$run"
            params={{ run: run.id }}
            className="block truncate font-medium text-ink after:absolute after:inset-0 group-hover:underline"
            title={run.title}
          >
            {run.title}
          </Link>
        )}
      </td>
      <td>{run === null ? null : <StateMark state={run.state} />}</td>
    </tr>
  );
}
