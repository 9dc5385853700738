import { Link } from "@tanstack/react-router";
import { Bot, Clock3, Link2, Repeat2, User, Webhook } from "lucide-react";
import type { ReactNode } from "react";

import { useNow } from "../../lib/time/clock.ts";
import { duration, humanise, money, secondsBetween } from "../../lib/text/format.ts";
import type { RunCause, RunRowFragment } from "../fragments.generated.ts";
import { CAUSES, isLive, STATES, triggerKind } from "./states.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { StateMark } from "./StateMark.tsx";

const ICONS: Record<RunCause, typeof User> = {
  PERSON: User,
  AGENT: Bot,
  SCHEDULE: Clock3,
  WEBHOOK: Webhook,
  RUN_ENDED: Link2,
  RERUN: Repeat2,
  A2A: Bot,
};

interface Props {
  runs: readonly RunRowFragment[];
  label: string;
  /** Whether all runs belong to one pipeline, which is then not shown. */
  ofOne?: boolean;
  /** The selected runs. Without `onPick`, runs cannot be selected. */
  picked?: ReadonlySet<string>;
  onPick?: (ids: readonly string[], on: boolean) => void;
}

/** A table of runs: state, title and the reason for the state. */
export function RunTable({ runs, label, ofOne = false, picked, onPick }: Props): ReactNode {
  const all = picked !== undefined && runs.length > 0 && runs.every(({ id }) => picked.has(id));
  return (
    <div className="overflow-x-auto">
      <table className="w-full table-fixed max-md:block border-collapse text-dense" aria-label={label}>
        <thead className="max-md:sr-only">
          <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th:last-child]:pr-0 [&>th]:font-medium">
            {onPick === undefined ? null : (
              <th className="w-9">
                <input
                  type="checkbox"
                  aria-label="Select all on this page"
                  checked={all}
                  onChange={() =>
                    onPick(
                      runs.map(({ id }) => id),
                      !all,
                    )
                  }
                  className="align-middle"
                />
              </th>
            )}
            <th className="w-28">State</th>
            <th className="w-[24%]">Run</th>
            {ofOne ? null : <th className="w-[14%] max-lg:hidden">Pipeline</th>}
            <th>What happened</th>
            <th className="w-34">Started</th>
            <th className="w-22 text-right">Duration</th>
          </tr>
        </thead>
        <tbody className="max-md:block">
          {runs.map((run) => (
            <RunLine key={run.id} run={run} ofOne={ofOne} picked={picked?.has(run.id) === true} onPick={onPick} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function RunLine({
  run,
  ofOne,
  picked,
  onPick,
}: {
  run: RunRowFragment;
  ofOne: boolean;
  picked: boolean;
  onPick: Props["onPick"];
}): ReactNode {
  const Icon = ICONS[run.cause];
  const starter =
    run.endedRun === null
      ? run.trigger === null
        ? CAUSES[run.cause]
        : `the ${triggerKind(run.cause)} ${run.trigger.name}`
      : `the end of ${run.endedRun.title}`;
  const of = run.pipeline?.name ?? run.pack?.name ?? null;
  return (
    <tr
      data-run={run.id}
      className={`row group relative border-b md:h-9 border-line ${picked ? "bg-accent-tint" : "hover:bg-hover"} max-md:flex max-md:flex-wrap max-md:gap-x-3 max-md:py-2 [&>td]:pr-4 [&>td:last-child]:pr-0 max-md:[&>td]:pr-0`}
    >
      {onPick === undefined ? null : (
        // Above the link that covers the row.
        <td className="relative z-[1] max-md:order-0">
          <input
            type="checkbox"
            aria-label={`Select ${run.title}`}
            checked={picked}
            onChange={() => onPick([run.id], !picked)}
            className="align-middle pointer-coarse:size-6"
          />
        </td>
      )}
      <td className="max-md:order-2">
        <StateMark state={run.state} />
      </td>
      <td className={`max-md:order-1 ${onPick === undefined ? "max-md:w-full" : "max-md:w-[calc(100%-3rem)]"}`}>
        <Link
          to="/runs/$run"
          params={{ run: run.id }}
          className="block truncate font-medium text-ink after:absolute after:inset-0 group-hover:underline"
          title={of === null || of === run.title ? run.title : `${run.title} (${of})`}
        >
          {run.title}
        </Link>
      </td>
      {ofOne ? null : (
        <td className="truncate text-soft max-lg:hidden" title={of ?? undefined}>
          {of === run.title ? null : of}
        </td>
      )}
      <td className="truncate text-soft max-md:order-4 max-md:w-full" title={causeOf(run).replaceAll("`", "")}>
        <TextWithCode text={causeOf(run)} />
      </td>
      <td className="text-soft max-md:order-3">
        <span
          className="inline-flex items-center gap-1.5 align-middle"
          title={`Started by ${starter}: ${run.caller.name}`}
        >
          <Icon aria-hidden="true" className="size-3.5 shrink-0" />
          <span className="sr-only">by {starter}, </span>
          <Timestamp at={run.createdAt} />
        </span>
      </td>
      <td className="text-right text-soft max-md:order-3 max-md:ml-auto">
        <Took run={run} />
        {run.cost.amountUsd === null || run.cost.amountUsd === 0 ? null : ` · ${money(run.cost.amountUsd)}`}
      </td>
    </tr>
  );
}

function Took({ run }: { run: RunRowFragment }): ReactNode {
  const live = run.state === "RUNNING" || run.state === "CANCELLING";
  const now = useNow(live, 1000);
  if (run.startedAt === null) return "";
  return live && run.resumeCount === 0 ? duration(secondsBetween(run.startedAt, now)) : duration(run.workSeconds);
}

/** The reason for a run's state, in one line. */
export function causeOf(run: RunRowFragment): string {
  if (run.failure !== null && !isLive(run.state)) {
    return run.failure.stepKey === null
      ? run.failure.message
      : `${humanise(run.failure.stepKey)}: ${run.failure.message}`;
  }
  if (run.wait !== null) return run.wait.message.charAt(0).toUpperCase() + run.wait.message.slice(1);
  if (isLive(run.state) && run.currentStep !== null) return `At ${humanise(run.currentStep.key)}`;
  if (run.state === "SUCCEEDED")
    return run.resumeCount === 0 ? "" : run.resumeCount === 1 ? "Resumed once" : `Resumed ${run.resumeCount} times`;
  return STATES[run.state].sentence;
}
