import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

import { Timestamp } from "../../components/Timestamp.tsx";
import { FiringResult } from "./FiringResult.tsx";
import { webhookWords } from "./presets.ts";
import { runEndedWords } from "./runEndedWords.ts";
import { scheduleWords } from "./scheduleWords.ts";
import type { SchedulePartsFragment, TriggerRowFragment } from "./triggers.generated.ts";
import { TriggerState } from "./TriggerState.tsx";

interface Props {
  triggers: readonly TriggerRowFragment[];
  label: string;
  /** Whether all triggers start one pipeline, which is then not shown. */
  ofOne?: boolean;
}

/** A table of triggers: when each fires, and what the last firing led to. */
export function TriggerTable({ triggers, label, ofOne = false }: Props): ReactNode {
  return (
    <table className="w-full table-fixed border-collapse text-dense max-md:block" aria-label={label}>
      <thead className="max-md:sr-only">
        <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
          <th className="w-34 max-xl:w-30">State</th>
          <th className="w-[20%]">Trigger</th>
          {ofOne ? null : <th className="w-[13%] max-xl:hidden">Pipeline</th>}
          <th>Fires by</th>
          <th className="w-26">Next firing</th>
          <th className="w-48 max-xl:w-40">Last firing</th>
        </tr>
      </thead>
      <tbody className="max-md:block">
        {triggers.map((trigger) => (
          <Row key={trigger.id} trigger={trigger} ofOne={ofOne} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ trigger, ofOne }: { trigger: TriggerRowFragment; ofOne: boolean }): ReactNode {
  const { id, name, pipeline, nextAt, attention, lastFiring: last } = trigger;
  return (
    <tr className="row group relative border-b border-line hover:bg-hover max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 md:h-9 [&>td]:pr-4 [&>td:last-child]:pr-0 max-md:[&>td]:pr-0">
      <td className="max-md:order-2">
        <TriggerState trigger={trigger} />
      </td>
      <td className="max-md:order-1 max-md:w-full md:max-xl:py-1">
        <Link
          to="/triggers/$trigger"
          params={{ trigger: id }}
          className="block truncate font-medium text-ink after:absolute after:inset-0 group-hover:underline md:max-xl:whitespace-normal md:max-xl:wrap-anywhere"
          title={name}
        >
          {name}
        </Link>
      </td>
      {ofOne ? null : (
        <td className="truncate text-soft max-xl:hidden" title={pipeline?.name}>
          {pipeline?.name ?? "deleted"}
        </td>
      )}
      <td className="truncate text-soft max-md:order-3 max-md:w-full md:max-xl:py-1" title={attention ?? undefined}>
        {/* Where the column is narrow, one line is too short. */}
        <div className="truncate md:max-xl:line-clamp-2 md:max-xl:whitespace-normal md:max-xl:wrap-anywhere">
          {attention === null ? <FiresBy trigger={trigger} short={!ofOne} /> : attention.replaceAll("`", "")}
        </div>
      </td>
      <td className="text-soft max-md:order-4">
        {nextAt === null ? (
          <span className="max-md:hidden">–</span>
        ) : (
          <>
            <span className="md:sr-only">next </span>
            <Timestamp at={nextAt} relative />
          </>
        )}
      </td>
      <td className="text-soft max-md:order-5 max-md:ml-auto">
        {last === null ? (
          "never fired"
        ) : (
          <span className="inline-flex items-center gap-1.5">
            <FiringResult firing={last} />
            <Timestamp at={last.scheduledAt ?? last.createdAt} relative />
          </span>
        )}
      </td>
    </tr>
  );
}

/** What a trigger fires by: its schedule, a webhook and who sends to it, or the ends of runs. */
export function FiresBy({
  trigger: { schedule, webhook, runEnded },
  short = false,
}: {
  trigger: Pick<TriggerRowFragment, "schedule" | "webhook" | "runEnded">;
  short?: boolean;
}): ReactNode {
  if (schedule !== null) return <ScheduleText schedule={schedule} short={short} />;
  if (runEnded !== null) return runEndedWords(runEnded);
  return webhook === null ? null : webhookWords(webhook.preset);
}

/** A schedule in words, with its expression and zone; the short form leaves out the expression if there are words. */
function ScheduleText({ schedule, short }: { schedule: SchedulePartsFragment; short: boolean }): ReactNode {
  const words = scheduleWords(schedule);
  if (schedule.cron === null) return words;
  return (
    <span title={`${schedule.cron} (${schedule.timeZone})`}>
      {words}
      {words === null ? "" : " · "}
      {short && words !== null ? null : (
        <>
          <span className="font-mono text-meta">{schedule.cron}</span> ·{" "}
        </>
      )}
      {schedule.timeZone}
    </span>
  );
}
