import { Link } from "@tanstack/react-router";
import { memo, type ReactNode } from "react";

import { Timestamp } from "../../components/Timestamp.tsx";
import { StateMark } from "../../domain/runs/StateMark.tsx";
import { useNow } from "../../lib/time/clock.ts";
import { waitWords } from "../../domain/runs/waitWords.ts";
import { count, duration, money, tokens } from "../../lib/text/format.ts";
import { isFinal, isLive, triggerKind } from "../../domain/runs/states.ts";
import { workSeconds } from "./timeline/axis.ts";
import { currentStep } from "./currentStep.ts";
import type { RunWholeFragment } from "./run.generated.ts";
import { StartedRuns } from "./StartedRuns.tsx";
import { takeoversByStep } from "./workers.ts";

/** Title, state, caller, duration and cost of the run. */
export const RunHeader = memo(function RunHeader({
  run,
  actions,
}: {
  run: RunWholeFragment;
  actions: ReactNode;
}): ReactNode {
  const failed = run.failure?.stepKey ?? null;
  const place = failed === null ? null : run.steps.findIndex((step) => step.key === failed) + 1;
  const at =
    run.state === "FAILED" && place !== null && place > 0
      ? `at step ${place} of ${run.steps.length}`
      : isLive(run.state)
        ? doing(run)
        : null;
  return (
    <header className="mb-4">
      <nav aria-label="Where this is" className="mb-1 text-dense text-soft">
        <Link to="/runs" className="link">
          Runs
        </Link>
        {run.pipeline === null ? null : (
          <>
            {" / "}
            <Link to="/pipelines/$pipeline" params={{ pipeline: run.pipeline.key }} className="link">
              {run.pipeline.name}
            </Link>
          </>
        )}
        {run.pack === null ? null : (
          <>
            {" / "}
            <Link to="/catalog/$pack" params={{ pack: run.pack.id }} className="link">
              {run.pack.name}
            </Link>
          </>
        )}
      </nav>
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3 lg:flex-nowrap">
        <div className="flex min-h-8 min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="wrap-anywhere">{run.title}</h1>
          <span className="inline-flex items-center gap-2">
            <StateMark state={run.state} tinted />
            {at === null ? null : <span className="text-soft">{at}</span>}
          </span>
        </div>
        <div className="flex shrink-0 flex-wrap gap-2">{actions}</div>
      </div>
      <Facts run={run} />
      {isFinal(run.state) && run.pipeline !== null ? <StartedRuns run={run.id} /> : null}
    </header>
  );
});

function doing(run: RunWholeFragment): string | null {
  if (run.wait !== null) return waitWords(run.wait);
  const step = currentStep(run);
  return step === null ? null : `step ${run.steps.indexOf(step) + 1} of ${run.steps.length}`;
}

const STARTED_BY: Record<RunWholeFragment["cause"], (name: string) => string> = {
  PERSON: (name) => `by ${name}`,
  AGENT: (name) => `by agent ${name}`,
  A2A: (name) => `by agent ${name}, from another platform`,
  SCHEDULE: (name) => `by a schedule of ${name}`,
  WEBHOOK: (name) => `by a webhook of ${name}`,
  RUN_ENDED: (name) => `by the end of a run, for ${name}`,
  RERUN: (name) => `run again by ${name}`,
};

function fieldWord(field: string): string {
  return field.toLowerCase().replaceAll("_", " ");
}

function Facts({ run }: { run: RunWholeFragment }): ReactNode {
  const live = run.state === "RUNNING" || run.state === "CANCELLING";
  const now = useNow(live, 500);
  const work = run.steps.reduce((sum, step) => sum + workSeconds(step, now), 0);
  const facts: ReactNode[] = [
    run.trigger === null ? (
      STARTED_BY[run.cause](run.caller.name)
    ) : (
      <span key="by">
        by the {triggerKind(run.cause)}{" "}
        <Link to="/triggers/$trigger" params={{ trigger: run.trigger.id }} search={{}} className="link">
          {run.trigger.name}
        </Link>{" "}
        of {run.caller.name}
      </span>
    ),
    ...(run.endedRun === null
      ? []
      : [
          <span key="after">
            after{" "}
            <Link to="/runs/$run" params={{ run: run.endedRun.id }} search={{}} className="link">
              {run.endedRun.title}
            </Link>
          </span>,
        ]),
    ...(run.clientName === null ? [] : [`via ${run.clientName.slice(0, 40)}`]),
    <Timestamp key="at" at={run.createdAt} seconds />,
    run.startedAt === null ? "not started" : isFinal(run.state) ? duration(work) : `${duration(work)} so far`,
  ];
  if (run.worker !== null) facts.push(`on ${run.worker}`);
  // The step that went on after the last one says which worker took over from which.
  const [taken] = [...takeoversByStep(run).keys()].slice(-1);
  if (taken !== undefined) {
    facts.push(
      <Link key="takeovers" to="/runs/$run" params={{ run: run.id }} search={{ step: taken }} className="link">
        {count(run.takeovers.length, "takeover")}
      </Link>,
    );
  }
  if (run.cost.amountUsd !== null && run.cost.amountUsd > 0) facts.push(money(run.cost.amountUsd));
  const used = (run.cost.usage?.input ?? 0) + (run.cost.usage?.output ?? 0);
  if (used > 0) facts.push(tokens(used));
  if (run.version !== null) {
    const current = run.pipeline?.currentVersion.number;
    facts.push(
      `definition v${run.version.number}${current === undefined || current === run.version.number ? "" : ` (current v${current})`}`,
    );
  }
  if (run.fromMemory.length > 0) {
    facts.push(
      <Link key="memory" to="/memory" className="link" title="Suggested from your usual choices and not changed">
        {`✎ ${run.fromMemory.map(({ field, value }) => `${fieldWord(field)} ${value}`).join(", ")}`} from memory
      </Link>,
    );
  }
  if (run.resumeCount > 0) facts.push(run.resumeCount === 1 ? "resumed once" : `resumed ${run.resumeCount} times`);
  if (run.rerunOf !== null) {
    facts.push(
      <Link key="of" to="/runs/$run" params={{ run: run.rerunOf.id }} className="link">
        re-run of an earlier run
      </Link>,
      <Link key="compare" to="/runs/compare" search={{ a: run.rerunOf.id, b: run.id }} className="link">
        compare
      </Link>,
    );
  }
  return (
    <ul className="mt-1 flex flex-wrap text-dense text-soft [&>li:not(:last-child)]:after:mx-1.5 [&>li:not(:last-child)]:after:content-['·']">
      {facts.map((fact, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>{fact}</li>
      ))}
    </ul>
  );
}
