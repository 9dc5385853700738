import { type ReactNode, useState } from "react";
import { useQuery } from "urql";

import { Button, buttonLook, ButtonLink } from "../../../components/Button.tsx";
import { Code } from "../../../components/Code.tsx";
import { CopyButton } from "../../../components/CopyButton.tsx";
import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { withBase } from "../../../lib/server/base.ts";
import { count, humanise } from "../../../lib/text/format.ts";
import type { FailurePartsFragment } from "../../../domain/fragments.generated.ts";
import { type Advice, opensRaw } from "./advice.ts";
import { Attempts } from "../step/Attempts.tsx";
import { ResumePlanDocument, type RunWholeFragment, type StepRowFragment } from "../run.generated.ts";

interface Props {
  run: RunWholeFragment;
  step: StepRowFragment | null;
  failure: FailurePartsFragment;
  advice: Advice;
  attempt: number | undefined;
  onAttempt: (attempt: number | undefined) => void;
  onChange: () => void;
  /** Actions next to those of the failure. */
  children: ReactNode;
}

/** What broke, in facts, and what to do. */
export function FailurePanel({ run, step, failure, advice, attempt, onAttempt, onChange, children }: Props): ReactNode {
  const place = step === null ? null : run.steps.indexOf(step) + 1;
  const cancelled = failure.class === "CANCELLED";
  const name = step === null ? "The run" : `Step ${place}, ${humanise(step.key)},`;
  const changeable = run.actions.includes("RESUME") && step !== null && !cancelled;
  const traceback = tracebackOf(step, attempt);
  return (
    <section
      aria-label="What went wrong"
      className={`@container rounded-lg border p-4 ${cancelled ? "border-line bg-panel" : "border-fail/40 bg-fail-tint"}`}
    >
      <h2 className="flex items-start gap-2">
        <span className="mt-1">
          <StateGlyph state={cancelled ? "CANCELLED" : "FAILED"} />
        </span>
        <span>{cancelled ? `${name} was stopped` : `${name} failed`}</span>
      </h2>
      <dl className="mt-3 grid gap-y-0.5 @sm:grid-cols-[7.5rem_1fr] @sm:gap-x-4 @sm:gap-y-2 [&>dd]:mb-2 @sm:[&>dd]:mb-0 [&>dt]:text-soft">
        <dt>What happened</dt>
        <dd className="wrap-anywhere">
          <TextWithCode text={failure.message} />
        </dd>
        {cancelled ? null : (
          <>
            <dt>Likely cause</dt>
            <dd className="wrap-anywhere">
              <TextWithCode text={failure.cause} />
            </dd>
          </>
        )}
        <dt>What to do</dt>
        <dd className="wrap-anywhere">
          <TextWithCode text={failure.hint} />
        </dd>
        {cancelled ? null : (
          <>
            <dt>Who can fix it</dt>
            <dd>{failure.fixableBy}</dd>
          </>
        )}
        <dt>Safe to repeat</dt>
        <dd>
          {failure.safeToRepeat
            ? "Yes: repeating the step causes no second external change."
            : "Uncertain: the step may already have changed an external system."}
        </dd>
      </dl>
      {failure.code === "SESSION_UNAVAILABLE" && run.actions.includes("RESUME") ? <NewSession run={run} /> : null}
      <div className="mt-4 flex flex-wrap items-center gap-2">
        {advice === "report" ? (
          <CopyButton
            text={report(run, step, failure, traceback?.whole ?? null)}
            what="of this fault"
            label="Copy report"
            look={buttonLook("primary")}
          />
        ) : null}
        {advice === "operator" ? (
          <CopyButton
            text={forOperator(run, failure)}
            what="what was refused"
            label="Copy for the operator"
            look={buttonLook("primary")}
          />
        ) : null}
        {advice === "credential" || advice === "account" ? (
          <Credentials run={run} failure={failure} another={advice === "account"} />
        ) : null}
        {changeable ? (
          <Button kind={advice === "change" ? "primary" : "plain"} onClick={onChange}>
            Change input…
          </Button>
        ) : null}
        {children}
        <span className="ml-auto flex gap-1">
          <CopyButton text={forAgent(run, step, failure)} what="what failed" label="Copy for agent" />
        </span>
      </div>
      {step === null ? null : <Attempts run={run} step={step} chosen={attempt} onChoose={onAttempt} />}
      {traceback === null ? null : <Traceback key={traceback.whole} {...traceback} />}
      <Raw key={run.resumeCount} failure={failure} startsOpen={traceback === null && opensRaw(failure.code)} />
    </section>
  );
}

interface Tracebacks {
  whole: string;
  /** With calls outside of the pack's own code folded. */
  folded: string;
}

/** The traceback of the selected attempt, by default of the last; null when no exception ended it. */
function tracebackOf(step: StepRowFragment | null, attempt: number | undefined): Tracebacks | null {
  const shown = step?.attempts.find(({ number }) => number === attempt) ?? step?.attempts.at(-1);
  const exception = shown?.exception;
  return exception === null || exception === undefined
    ? null
    : { whole: exception.traceback.join("\n"), folded: exception.foldedTraceback.join("\n") };
}

function Traceback({ whole, folded }: Tracebacks): ReactNode {
  const [all, setAll] = useState(false);
  return (
    <details className="mt-3" open>
      <summary className="link w-fit text-dense">Traceback</summary>
      <div className="mt-2">
        <Code label="Traceback" text={all ? whole : folded} />
        {whole === folded ? null : (
          <button type="button" className="link mr-2 text-meta" onClick={() => setAll(!all)}>
            {all ? "Show only the pack's calls" : "Show all calls"}
          </button>
        )}
        <CopyButton text={whole} what="traceback" />
      </div>
    </details>
  );
}

function Raw({ failure, startsOpen }: { failure: FailurePartsFragment; startsOpen: boolean }): ReactNode {
  const [open, setOpen] = useState(startsOpen);
  const { code, class: kind, message, field, detail } = failure;
  return (
    <details className="mt-3" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="link w-fit text-dense">Raw error</summary>
      <div className="mt-2">
        <Code label="Raw error" text={JSON.stringify({ code, class: kind, message, field, detail }, null, 2)} />
        <CopyButton text={JSON.stringify(failure, null, 2)} what="raw error" />
      </div>
    </details>
  );
}

/** The page of credentials leads back here. */
function Credentials({
  run,
  failure,
  another,
}: {
  run: RunWholeFragment;
  failure: FailurePartsFragment;
  /** Whether there is one, whose account is used up. */
  another: boolean;
}): ReactNode {
  const need = refusedCredential(failure.detail);
  return (
    <ButtonLink kind="primary" to="/credentials" search={{ need, return: `/runs/${run.id}` }}>
      {another ? "Use another account…" : need === undefined ? "See the credentials…" : `Set the credential ${need}…`}
    </ButtonLink>
  );
}

/** The key of the credential that was missing or refused; a pack may use several. */
function refusedCredential(detail: unknown): string | undefined {
  if (detail === null || typeof detail !== "object" || !("credential" in detail)) return undefined;
  return typeof detail.credential === "string" ? detail.credential : undefined;
}

/** A new session needs its first step to run again: said before the user presses Resume. */
function NewSession({ run }: { run: RunWholeFragment }): ReactNode {
  const [{ data }] = useQuery({ query: ResumePlanDocument, variables: { id: run.id } });
  const steps = data?.run?.resumePreview?.steps ?? [];
  const again = steps.filter(({ action }) => action === "RUN_AGAIN");
  const kept = steps.filter(({ action }) => action === "REUSE");
  if (again.length === 0) return null;
  return (
    <p className="mt-3">
      To get a new session, {again.map(({ key }) => humanise(key)).join(", ")} {again.length === 1 ? "runs" : "run"}{" "}
      again;{" "}
      {kept.length === 0
        ? "nothing is reused"
        : `${count(kept.length, "step")} ${kept.length === 1 ? "is" : "are"} reused`}
      .
    </p>
  );
}

function forAgent(run: RunWholeFragment, step: StepRowFragment | null, failure: FailurePartsFragment): string {
  return [
    `Packline run ${run.id} ("${run.title}") failed${step === null ? "" : ` at step "${step.key}"`}.`,
    `Code ${failure.code}, class ${failure.class}. ${failure.message}`,
    `Likely cause: ${failure.cause}`,
    `What to do: ${failure.hint}`,
    failure.field === null ? "" : `Input at fault: ${failure.field}`,
    `Safe to repeat: ${failure.safeToRepeat ? "yes" : "uncertain"}.`,
    `To see the run, call get_run {"run_id": "${run.id}"}. To continue it, call resume_run {"run_id": "${run.id}"}, which reuses the steps that succeeded${step === null ? "" : " and takes `step_input` to replace the step's input"}.`,
    `Page: ${location.origin}${withBase(`/runs/${run.id}`)}`,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function forOperator(run: RunWholeFragment, failure: FailurePartsFragment): string {
  return [
    `Packline stopped the run "${run.title}".`,
    failure.message,
    failure.cause,
    failure.hint,
    `${location.origin}${withBase(`/runs/${run.id}`)}`,
  ].join("\n");
}

function report(
  run: RunWholeFragment,
  step: StepRowFragment | null,
  failure: FailurePartsFragment,
  traceback: string | null,
): string {
  const pack =
    step?.step !== null && step?.step !== undefined && "packName" in step.step
      ? `${step.step.packName} ${step.packVersion ?? ""}`.trim()
      : step?.agent != null
        ? `agent ${step.agent}`
        : "unknown";
  return [
    `### ${pack}: ${failure.message}`,
    "",
    `Pack: ${pack}`,
    `Code: ${failure.code}`,
    `Run: ${run.id}, step ${step?.key ?? "none"}, attempt ${step?.attempts.length ?? 0}`,
    "",
    traceback === null ? "```json" : "```",
    traceback ?? JSON.stringify(failure.detail, null, 2),
    "```",
  ].join("\n");
}
