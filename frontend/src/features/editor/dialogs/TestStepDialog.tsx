import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useId, useMemo, useState } from "react";
import { useMutation, useQuery } from "urql";

import { ArtifactRows } from "../../../domain/files/ArtifactRows.tsx";
import { Button } from "../../../components/Button.tsx";
import { Dialog } from "../../../components/Dialog.tsx";
import { PayloadView } from "../../../components/JsonView.tsx";
import { Timestamp } from "../../../components/Timestamp.tsx";
import { Notice } from "../../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand, problemOfError } from "../../../lib/server/problem.ts";
import { Loading } from "../../../components/Page.tsx";
import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { StateMark } from "../../../domain/runs/StateMark.tsx";
import { readJson } from "../../../lib/json/untrusted.ts";
import { duration, humanise } from "../../../lib/text/format.ts";
import { useRunChanges } from "../../../domain/runs/runChanges.ts";
import { isFinal } from "../../../domain/runs/states.ts";
import type { StepEntry } from "../definition/definition.ts";
import { EditorLastRunDocument, EditorTestRunDocument, EditorTestStepDocument } from "../editor.generated.ts";
import { knownFrom } from "../definition/lastRun.ts";
import type { Pack } from "../form/StepForm.tsx";
import { type Known, resolved } from "../definition/templates.ts";

/** Values for a test may be long; examples in a list are not. */
const LONGEST_VALUE = 1_048_576;

interface Props {
  step: StepEntry;
  pack: Pack;
  /** The pipeline whose last run supplies example values; null when it is not saved yet. */
  pipelineId: string | null;
  onClose: () => void;
}

/** Runs one step alone, with values of the last run. */
export function TestStepDialog(props: Props): ReactNode {
  const { pipelineId, step, onClose } = props;
  const [{ data, fetching, error }] = useQuery({
    query: EditorLastRunDocument,
    variables: { id: pipelineId ?? "", limitBytes: LONGEST_VALUE },
    pause: pipelineId === null,
    requestPolicy: "network-only",
  });
  const last = data?.pipeline?.runs.nodes[0] ?? null;
  return (
    <Dialog title={`Test ${humanise(step.id)}`} onClose={onClose} wide>
      {fetching ? (
        <Loading />
      ) : (
        <>
          <Notice problem={error === undefined ? null : problemOfError(error)} />
          <p className="mb-3 text-soft">
            {last === null ? (
              "There is no earlier run to take values from. Fill in the missing ones."
            ) : (
              <>
                With the values of{" "}
                <Link to="/runs/$run" params={{ run: last.id }} className="link">
                  the last run
                </Link>
                , <Timestamp at={last.createdAt} relative />.
              </>
            )}{" "}
            The test is recorded as a separate run. The pipeline does not change.
          </p>
          <Trial {...props} known={last === null ? { inputs: {}, outputs: {} } : knownFrom(last)} />
        </>
      )}
    </Dialog>
  );
}

function Trial({ step, pack, known, onClose }: Props & { known: Known }): ReactNode {
  const filled = useMemo(() => resolved(step.value["input"] ?? {}, known), [step, known]);
  const [text, setText] = useState(() => JSON.stringify(filled.value, null, 2));
  const [{ fetching }, start] = useMutation(EditorTestStepDocument);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const [runId, setRunId] = useState<string | null>(null);
  const id = useId();
  const input = readJson(text)?.json;

  async function go(): Promise<void> {
    setRefusal(null);
    const version = step.value["version"];
    const answer = await start({ pack: pack.id, input, version: typeof version === "string" ? version : null });
    const result = answer.data?.runPack;
    if (answer.error !== undefined) setRefusal(problemOfCommand(answer.error));
    else if (result?.__typename === "StartRunSuccess" && result.run !== null) setRunId(result.run.id);
    else setRefusal(problemOf(result ?? {}));
  }

  return (
    <>
      {filled.missing.length === 0 ? null : (
        <div className="mb-3 border-l-2 border-warn bg-warn-tint px-3 py-2">
          {filled.missing.map((reference) => (
            <p key={reference} className="wrap-anywhere">
              That run has no value for <code className="font-mono text-dense">{reference}</code>. Enter one below.
            </p>
          ))}
        </div>
      )}
      <label htmlFor={id} className="mb-1 block font-medium">
        Input of the step
      </label>
      <textarea
        id={id}
        data-autofocus=""
        className={`field font-mono !text-dense ${input === undefined ? "!border-fail" : ""}`}
        rows={Math.min(14, Math.max(4, text.split("\n").length))}
        value={text}
        spellCheck={false}
        aria-invalid={input === undefined}
        onChange={(event) => setText(event.target.value)}
      />
      {input === undefined ? (
        <p className="mt-1 text-dense text-fail">This is not JSON. Put text in quotes: "text".</p>
      ) : null}
      {pack.effects === "NONE" ? null : (
        <p className="mt-2 text-warn">
          <span className="font-mono text-dense">{pack.name}</span> changes an external system, also in a test.
        </p>
      )}
      <Notice problem={refusal} />
      {runId === null ? null : <Outcome id={runId} />}
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        <Button kind="primary" disabled={fetching || input === undefined} onClick={() => void go()}>
          {runId === null ? "Run this step" : "Run it again"}
        </Button>
      </div>
    </>
  );
}

/** Polls while the test runs. */
const ASK_MS = 2000;

function Outcome({ id }: { id: string }): ReactNode {
  const [{ data, error }, again] = useQuery({
    query: EditorTestRunDocument,
    variables: { id },
    requestPolicy: "network-only",
  });
  useRunChanges(({ runs, more }) => {
    if (more || runs.some((run) => run.id === id)) again({ requestPolicy: "network-only" });
  });
  const run = data?.run;
  const over = run != null && isFinal(run.state);
  useEffect(() => {
    if (over) return undefined;
    const timer = setInterval(() => again({ requestPolicy: "network-only" }), ASK_MS);
    return () => clearInterval(timer);
  }, [over, again]);
  if (run === undefined || run === null)
    return error === undefined ? <Loading /> : <Notice problem={problemOfError(error)} />;
  const [step] = run.steps;
  return (
    <section aria-label="Outcome of the test" className="mt-4 border-t border-line pt-4">
      <p className="mb-3 flex flex-wrap items-center gap-3" role="status">
        <StateMark state={run.state} tinted />
        {over ? <span className="text-soft">{duration(run.workSeconds)}</span> : null}
        <Link to="/runs/$run" params={{ run: run.id }} className="link text-dense">
          Open the run
        </Link>
      </p>
      {run.failure === null ? null : (
        <div className="mb-3 border-l-2 border-fail bg-fail-tint px-3 py-2">
          <p className="font-medium wrap-anywhere">
            <TextWithCode text={run.failure.message} />
          </p>
          {run.failure.hint === null ? null : (
            <p className="text-soft wrap-anywhere">
              <TextWithCode text={run.failure.hint} />
            </p>
          )}
        </div>
      )}
      {step?.warnings.map((warning) => (
        <p key={warning} className="mb-2 text-warn wrap-anywhere">
          {warning}
        </p>
      ))}
      {step === undefined || step.artifacts.length === 0 ? null : <ArtifactRows artifacts={step.artifacts} />}
      {run.state === "SUCCEEDED" ? <PayloadView payload={run.output} empty="No output." /> : null}
    </section>
  );
}
