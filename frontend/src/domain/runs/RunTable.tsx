import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";

import { useNow } from "../../lib/time/clock.ts";
import { duration, humanise, money, secondsBetween } from "../../lib/text/format.ts";
import type { RunRowFragment } from "../fragments.generated.ts";
import { groupEqualFailures, type RunGroup } from "./equalFailures.ts";
import { isLive, STATES } from "./states.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { Starter } from "./Starter.tsx";
import { StateMark } from "./StateMark.tsx";
import { waitWords } from "./waitWords.ts";

interface Props {
  runs: readonly RunRowFragment[];
  label: string;
  /** Whether all runs belong to one pipeline, which is then not shown. */
  ofOne?: boolean;
  /** The selected runs. Without `onPick`, runs cannot be selected. */
  picked?: ReadonlySet<string>;
  onPick?: (ids: readonly string[], on: boolean) => void;
}

/** A table of runs: state, title, the reason for the state, and who or what started each. Runs that failed alike are one row. */
export function RunTable({ runs, label, ofOne = false, picked, onPick }: Props): ReactNode {
  // A column without a word would only make the titles narrow.
  const says = runs.some((run) => causeOf(run) !== "");
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
            <th className="w-29">State</th>
            <th className={says ? "w-[28%] max-xl:w-[24%]" : ""}>Run</th>
            {says ? <th>What happened</th> : null}
            <th className="w-[13%]">Started by</th>
            <th className="w-24">Started</th>
            <th className="w-22 text-right">Duration</th>
          </tr>
        </thead>
        <tbody className="max-md:block">
          {groupEqualFailures(runs).map((group) => (
            <Group key={group.head.id} group={group} ofOne={ofOne} says={says} picked={picked} onPick={onPick} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GroupProps {
  group: RunGroup;
  ofOne: boolean;
  /** Whether a column has what happened. */
  says: boolean;
  picked: Props["picked"] | undefined;
  onPick: Props["onPick"] | undefined;
}

/** A run, and on request those that failed like it. */
function Group({ group: { head, others }, ofOne, says, picked, onPick }: GroupProps): ReactNode {
  const [open, setOpen] = useState(false);
  const has = ({ id }: RunRowFragment) => picked?.has(id) === true;
  const shown = open ? [head, ...others] : [head];
  return shown.map((run) => {
    const isFolded = !open && others.length > 0;
    const isPicked = has(run) && (!isFolded || others.every(has));
    return (
      <RunLine
        key={run.id}
        run={run}
        ofOne={ofOne}
        says={says}
        picked={isPicked}
        // A folded row stands for all of its runs.
        pickLabel={isFolded ? `Select ${others.length + 1} runs that failed like ${run.title}` : `Select ${run.title}`}
        onPick={
          onPick === undefined
            ? undefined
            : () => onPick(isFolded ? [head, ...others].map(({ id }) => id) : [run.id], !isPicked)
        }
        alike={
          run !== head || others.length === 0 ? null : (
            <button
              type="button"
              aria-expanded={open}
              className="link relative z-1 ml-2 shrink-0 whitespace-nowrap"
              onClick={() => setOpen(!open)}
            >
              {open ? "Collapse" : `+${others.length} similar`}
            </button>
          )
        }
        isAlike={run !== head}
      />
    );
  });
}

interface LineProps {
  run: RunRowFragment;
  ofOne: boolean;
  says: boolean;
  picked: boolean;
  pickLabel: string;
  onPick: (() => void) | undefined;
  /** Unfolds the runs that failed alike. */
  alike: ReactNode;
  /** Whether it is one of those. */
  isAlike: boolean;
}

function RunLine({ run, ofOne, says, picked, pickLabel, onPick, alike, isAlike }: LineProps): ReactNode {
  const name = ofOne ? null : (run.pipeline?.name ?? run.pack?.name ?? null);
  // Most titles begin with it.
  const of = name === null || run.title.startsWith(name) ? null : name;
  const cause = causeOf(run);
  return (
    <tr
      data-run={run.id}
      className={`row group relative border-b md:h-9 border-line ${picked ? "bg-accent-tint" : isAlike ? "bg-panel hover:bg-hover" : "hover:bg-hover"} max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-2.5 max-md:py-2 [&>td]:pr-4 [&>td:last-child]:pr-0 max-md:[&>td]:pr-0`}
    >
      {onPick === undefined ? null : (
        // Above the link that covers the row.
        <td className="relative z-1 max-md:order-0">
          <input
            type="checkbox"
            aria-label={pickLabel}
            checked={picked}
            onChange={onPick}
            className="align-middle pointer-coarse:size-6"
          />
        </td>
      )}
      <td className="max-md:order-2">
        <StateMark state={run.state} />
      </td>
      <td className={`max-md:order-1 ${onPick === undefined ? "max-md:w-full" : "max-md:w-[calc(100%-3rem)]"}`}>
        <span className="flex items-baseline">
          <Link
            to="/runs/$run"
            params={{ run: run.id }}
            data-open
            className={`truncate font-medium text-ink after:absolute after:inset-0 group-hover:underline ${of === null ? "min-w-0" : "max-w-3/4 min-w-0 shrink-0 max-xl:max-w-full max-xl:shrink"}`}
            title={of === null ? run.title : `${run.title} (${of})`}
          >
            {run.title}
          </Link>
          {of === null ? null : <span className="ml-2 min-w-0 truncate text-soft max-xl:hidden">{of}</span>}
          {!offersResume(run) ? null : (
            <Link
              to="/runs/$run"
              params={{ run: run.id }}
              search={{ ask: "resume" }}
              className="link relative z-1 ml-2 shrink-0 whitespace-nowrap pointer-coarse:py-3"
            >
              Resume…
            </Link>
          )}
          {alike}
        </span>
      </td>
      {says ? (
        <td
          className="truncate text-soft max-md:order-5 max-md:w-full md:max-xl:py-1 md:max-xl:whitespace-normal"
          title={cause.replaceAll("`", "")}
        >
          {/* Where the column is narrow, one line is too short for a reason. */}
          <div className="truncate md:max-xl:line-clamp-2 md:max-xl:whitespace-normal md:max-xl:wrap-anywhere">
            <TextWithCode text={cause} />
          </div>
        </td>
      ) : null}
      <td className="text-soft max-md:order-3 max-md:min-w-0 max-md:flex-[1_1_4rem]">
        <Starter run={run} />
      </td>
      <td className="text-soft max-md:order-3">
        <Timestamp at={run.createdAt} relative />
      </td>
      <td className="text-right text-soft max-md:order-4 max-md:ml-auto">
        <Took run={run} />
        {run.cost.amountUsd === null || run.cost.amountUsd === 0 ? null : ` · ${money(run.cost.amountUsd)}`}
      </td>
    </tr>
  );
}

/** Whether to offer Resume: the run failed, is not acknowledged, and can be resumed. */
function offersResume({ state, acknowledgedAt, actions }: RunRowFragment): boolean {
  return state === "FAILED" && acknowledgedAt === null && actions.includes("RESUME");
}

function Took({ run }: { run: RunRowFragment }): ReactNode {
  const live = run.state === "RUNNING" || run.state === "CANCELLING";
  const now = useNow(live, 1000);
  if (run.startedAt === null) return "";
  return live && run.resumeCount === 0 ? duration(secondsBetween(run.startedAt, now)) : duration(run.workSeconds);
}

/** What a run's state does not say, in one line; nothing when the state says it all. */
export function causeOf(run: RunRowFragment): string {
  if (run.failure !== null && !isLive(run.state)) {
    return run.failure.stepKey === null
      ? run.failure.message
      : `${humanise(run.failure.stepKey)}: ${run.failure.message}`;
  }
  if (run.wait !== null) {
    const words = waitWords(run.wait);
    return words.charAt(0).toUpperCase() + words.slice(1);
  }
  if (isLive(run.state) && run.currentStep !== null) return `At ${humanise(run.currentStep.key)}`;
  if (run.state === "SUCCEEDED")
    return run.resumeCount === 0 ? "" : run.resumeCount === 1 ? "Resumed once" : `Resumed ${run.resumeCount} times`;
  return run.state === "CANCELLED" ? "" : STATES[run.state].sentence;
}
