import type { ReactNode } from "react";

import { Code } from "../../components/JsonView.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Moment } from "../../components/Moment.tsx";
import { Prose } from "../../components/Prose.tsx";
import { StateGlyph } from "../../components/StateMark.tsx";
import { duration, humanise, secondsBetween } from "../../lib/format.ts";
import type { FailurePartsFragment } from "../../lib/fragments.generated.ts";
import { CLASSES, STATES } from "../../lib/states.ts";
import type { RunWholeFragment, StepRowFragment } from "./run.generated.ts";

interface Props {
  run: RunWholeFragment;
  step: StepRowFragment | null;
  failure: FailurePartsFragment;
  actions: ReactNode;
}

/** What broke, in four facts, and what to do. */
export function FailurePanel({ run, step, failure, actions }: Props): ReactNode {
  const place = step === null ? null : run.steps.indexOf(step) + 1;
  const cancelled = failure.class === "CANCELLED";
  const name = step === null ? "The run" : `Step ${place}, ${humanise(step.key)},`;
  const kind = CLASSES[failure.class];
  return (
    <section aria-label="What went wrong" className={`rounded-lg border p-4 ${cancelled ? "border-line bg-panel" : "border-fail/40 bg-fail-tint"}`}>
      <h2 className="flex items-start gap-2">
        <span className="mt-1">
          <StateGlyph state={cancelled ? "CANCELLED" : "FAILED"} />
        </span>
        <span>{cancelled ? `${name} was stopped` : `${name} failed`}</span>
      </h2>
      <dl className="mt-3 grid grid-cols-[7.5rem_1fr] gap-x-4 gap-y-2 max-md:grid-cols-1 max-md:gap-y-0.5 [&>dd]:max-md:mb-2 [&>dt]:text-soft">
        <dt>What happened</dt>
        <dd className="wrap-anywhere">
          <Prose text={failure.message} />
        </dd>
        {failure.hint === null ? null : (
          <>
            <dt>What to do</dt>
            <dd className="wrap-anywhere">
              <Prose text={failure.hint} />
            </dd>
          </>
        )}
        <dt>Kind</dt>
        <dd>
          <strong className="font-medium">{kind.word}.</strong> {kind.sentence}
        </dd>
        <dt>Safe to repeat</dt>
        <dd>{failure.safeToRepeat ? "Yes: repeating the step changes nothing outside a second time." : "Not for sure: the step may have changed something outside already."}</dd>
      </dl>
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {actions}
        <span className="ml-auto">
          <CopyButton text={asText(run, step, failure)} what="what failed" label="Copy for agent" />
        </span>
      </div>
      {step === null || step.attempts.length === 0 ? null : <Attempts step={step} />}
      <details className="mt-3">
        <summary className="link w-fit text-dense">Raw error</summary>
        <div className="mt-2">
          <Code label="Raw error" text={JSON.stringify({ code: failure.code, class: failure.class, message: failure.message, field: failure.field, detail: failure.detail }, null, 2)} />
        </div>
      </details>
    </section>
  );
}

function Attempts({ step }: { step: StepRowFragment }): ReactNode {
  return (
    <div className="mt-4 flex flex-wrap items-baseline gap-x-5 gap-y-1 text-dense">
      <h3 className="text-soft">Attempts</h3>
      <ol className="contents">
        {step.attempts.map((attempt) => (
          <li key={attempt.id} className="inline-flex items-center gap-1.5" title={attempt.failure?.message}>
            {attempt.number} <StateGlyph state={attempt.state} />
            <span className="sr-only">{STATES[attempt.state].word}</span>
            <Moment at={attempt.startedAt} />
            {attempt.endedAt === null ? null : <span className="text-soft">{duration(secondsBetween(attempt.startedAt, attempt.endedAt))}</span>}
            {attempt.failure === null ? null : <span className="text-soft">{attempt.failure.code.toLowerCase().replaceAll("_", " ")}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}

function asText(run: RunWholeFragment, step: StepRowFragment | null, failure: FailurePartsFragment): string {
  return [
    `Packline run ${run.id} ("${run.title}") failed${step === null ? "" : ` at step "${step.key}"`}.`,
    `Code ${failure.code}, class ${failure.class}. ${failure.message}`,
    failure.hint === null ? "" : `Hint: ${failure.hint}`,
    `Safe to repeat: ${failure.safeToRepeat ? "yes" : "not for sure"}.`,
    `Page: ${location.href}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}
