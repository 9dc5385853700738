// The confirmation dialogs of a run. Each shows what it reuses, runs and changes externally, stays open when refused,
// and its button names the action.

import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../../components/Button.tsx";
import { Dialog } from "../../../components/Dialog.tsx";
import { Notice } from "../../../components/Notice.tsx";
import { outcomeOf, type Problem, problemOf, problemOfCommand, problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { type Draft, ValueForm } from "../../../domain/start/ValueForm.tsx";
import { humanise } from "../../../lib/text/format.ts";
import { useDebounced } from "../../../lib/hooks/useDebounced.ts";
import { currentStep } from "../currentStep.ts";
import { Plan } from "./Plan.tsx";
import {
  CancelRunDocument,
  ChangeableStepDocument,
  type DefinitionChoice,
  type PreviewPartsFragment,
  RerunPlanDocument,
  RerunRunDocument,
  ResumePlanDocument,
  ResumeRunDocument,
  RunSchemasDocument,
  type RunWholeFragment,
  ChangeableInputsDocument,
} from "../run.generated.ts";
import { changeableInputs, changedInputs, pickInputs } from "./changeableInputs.ts";

interface Props {
  run: RunWholeFragment;
  onClose: () => void;
}

/** Delay before a preview is requested after typing. */
const SETTLE_MS = 250;

/** One of the dialogs, for lazy loading. */
export type Asked = "resume" | "change" | "rerun" | "cancel";

export function RunDialog({ asked, ...props }: Props & { asked: Asked }): ReactNode {
  switch (asked) {
    case "resume":
      return <ResumeDialog {...props} />;
    case "change":
      return <ChangeDialog {...props} />;
    case "rerun":
      return <RerunDialog {...props} />;
    case "cancel":
      return <CancelDialog {...props} />;
    default:
      return asked satisfies never;
  }
}

/** Reads the failed step's input first: it may be long, and only this dialog wants all of it. */
function ChangeDialog(props: Props): ReactNode {
  const key = currentStep(props.run)?.key ?? "";
  const [{ data, fetching, error }] = useQuery({
    query: ChangeableStepDocument,
    variables: { id: props.run.id, key },
    requestPolicy: "network-only",
  });
  const found = data?.run?.step;
  // Part of a value would be sent back as the whole input.
  const isPart = (found?.whole?.text ?? null) !== null;
  if (found === undefined || found === null || error !== undefined || isPart) {
    return (
      <Dialog title={`Change the input of ${humanise(key)}`} onClose={props.onClose}>
        {isPart ? (
          <p>The input is too long to edit here.</p>
        ) : (
          <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />
        )}
      </Dialog>
    );
  }
  const schema = found.step !== null && "pack" in found.step ? (found.step.pack?.inputSchema ?? null) : null;
  return <ResumeDialog {...props} step={{ input: found.whole?.json ?? {}, schema, resolved: found.whole !== null }} />;
}

function ResumeDialog({
  run,
  onClose,
  step: changing,
}: Props & { step?: { input: unknown; schema: unknown; resolved: boolean } }): ReactNode {
  const [draft, setDraft] = useState<Draft>({ value: undefined, changed: false, unreadable: false });
  const [definition, setDefinition] = useState<DefinitionChoice>("OF_RUN");
  const [dropped, setDropped] = useState(false);
  // Left out, an input given in an earlier resume stays; null drops it.
  const choice = draft.changed ? { stepInput: draft.value } : dropped ? { stepInput: null } : {};
  const [inputsDraft, setInputsDraft] = useState<Draft>(draft);
  const [{ data: changeable }] = useQuery({
    query: ChangeableInputsDocument,
    variables: { id: run.id },
    requestPolicy: "network-only",
    pause: run.pipeline === null,
  });
  const changeableSchema = useMemo(
    () => (changeable?.run === null || changeable?.run === undefined ? null : changeableInputs(changeable.run)),
    [changeable],
  );
  const inputs =
    inputsDraft.changed && changeableSchema !== null
      ? changedInputs(pickInputs(run.inputs, changeableSchema), inputsDraft.value)
      : null;
  const asked = useDebounced({ id: run.id, ...choice, inputs, definition }, SETTLE_MS);
  const [{ data, error, stale, fetching: planning }] = useQuery({
    query: ResumePlanDocument,
    variables: asked.value,
    requestPolicy: "network-only",
  });
  const [{ fetching }, resume] = useMutation(ResumeRunDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const plan = data?.run?.resumePreview ?? null;
  const step = currentStep(run);
  const field = run.failure?.field?.split(".")[0];

  async function go(): Promise<void> {
    const answer = await resume({ id: run.id, ...choice, inputs, definition });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.resumeRun, "RunSuccess");
    if (done !== null) onClose();
    else setProblem(refusal);
  }

  const place = step === null ? "" : ` from step ${run.steps.indexOf(step) + 1}`;
  const notes = {
    ...(field === undefined || draft.changed ? {} : { [field]: run.failure?.message ?? "" }),
    ...issuesOf(plan, "step_input"),
  };
  return (
    <Dialog
      title={changing === undefined ? `Resume${place}` : `Change the input of ${humanise(step?.key ?? "the step")}`}
      onClose={onClose}
    >
      {changing === undefined ? null : (
        <>
          {changing.resolved ? null : (
            <p className="mb-3 text-soft">
              Its input was never resolved: the step gets only the values you enter here.
            </p>
          )}
          <ValueForm
            label="Input of the step"
            schema={changing.schema}
            before={changing.input}
            notes={notes}
            focus={field ?? ""}
            onDraft={setDraft}
          />
        </>
      )}
      {changeableSchema === null ? null : (
        <details className="mb-4">
          <summary className="link w-fit">Change inputs of the run</summary>
          <p className="my-2 text-meta text-soft">Inputs that no succeeded step has read.</p>
          <ValueForm
            label="Inputs of the run"
            schema={changeableSchema}
            before={pickInputs(run.inputs, changeableSchema)}
            notes={issuesOf(plan, "inputs")}
            onDraft={setInputsDraft}
          />
        </details>
      )}
      <Definition
        run={run}
        chosen={definition}
        newer={plan?.definitionChanged === true || definition === "CURRENT"}
        onChoose={setDefinition}
      />
      {!draft.changed &&
      (dropped ||
        plan?.steps.some(({ action, inputSource }) => action === "RUN" && inputSource === "EARLIER_STEP_INPUT") ===
          true) ? (
        <label className="mb-4 flex items-start gap-2">
          <input
            type="checkbox"
            className="mt-1"
            checked={dropped}
            onChange={(event) => setDropped(event.target.checked)}
          />
          <span>
            Use the input from the definition
            <span className="block text-meta text-soft">
              Removes the input that an earlier resume set for this step.
            </span>
          </span>
        </label>
      ) : null}
      {plan === null ? null : (
        <Plan plan={plan} isAtField={(issue) => changing !== undefined && fieldOf(issue, "step_input") !== undefined} />
      )}
      <Notice problem={problem ?? (error === undefined ? null : problemOfError(error))} />
      <Foot onClose={onClose}>
        <Button
          kind="primary"
          data-autofocus={changing === undefined ? "" : undefined}
          disabled={
            fetching ||
            planning ||
            stale ||
            asked.waiting ||
            plan?.allowed !== true ||
            draft.unreadable ||
            inputsDraft.unreadable
          }
          onClick={() => void go()}
        >
          {draft.changed
            ? `Resume${place} with this input`
            : inputsDraft.changed
              ? `Resume${place} with changed inputs`
              : `Resume${place}`}
        </Button>
      </Foot>
    </Dialog>
  );
}

function RerunDialog({ run, onClose }: Props): ReactNode {
  const [draft, setDraft] = useState<Draft>({ value: run.inputs, changed: false, unreadable: false });
  const [from, setFrom] = useState("");
  const [definition, setDefinition] = useState<DefinitionChoice>("OF_RUN");
  const [force, setForce] = useState(false);
  const inputs = draft.changed ? changedInputs(run.inputs, draft.value) : {};
  const fromStep = from === "" ? null : from;
  // One key per way of asking: pressing twice, or again after a lost answer, starts one run.
  const [base] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join("-"));
  const key = `${base}-${hash(JSON.stringify([inputs, fromStep, definition, force]))}`;
  const asked = useDebounced({ id: run.id, inputs, fromStep, definition }, SETTLE_MS);
  const [{ data, error, stale, fetching: planning }] = useQuery({
    query: RerunPlanDocument,
    variables: asked.value,
    requestPolicy: "network-only",
  });
  const [{ data: schemas }] = useQuery({
    query: RunSchemasDocument,
    variables: { id: run.id },
    requestPolicy: "network-only",
  });
  const [{ fetching }, rerun] = useMutation(RerunRunDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const navigate = useNavigate();
  const plan = data?.run?.rerunPreview ?? null;
  const schema =
    definition === "CURRENT"
      ? schemas?.run?.pipeline?.inputSchema
      : (schemas?.run?.version?.inputSchema ?? schemas?.run?.pack?.inputSchema);

  async function go(): Promise<void> {
    const answer = await rerun({ id: run.id, inputs, fromStep, definition, force, idempotencyKey: key });
    const result = answer.data?.rerunRun;
    if (answer.error !== undefined) setProblem(problemOfCommand(answer.error));
    else if (result?.__typename === "StartRunSuccess" && result.run !== null) {
      onClose();
      await navigate({ to: "/runs/$run", params: { run: result.run.id }, search: {} });
    } else setProblem(problemOf(result ?? {}));
  }

  const start = from === "" ? "" : ` from step ${run.steps.findIndex((step) => step.key === from) + 1}`;
  return (
    <Dialog title="Run again" onClose={onClose}>
      <p className="mb-3 text-soft">This starts a new run. The original does not change.</p>
      {run.steps.length < 2 ? null : (
        <label className="mb-4 block">
          <span className="mb-1 block font-medium">From</span>
          <select className="field" value={from} onChange={(event) => setFrom(event.target.value)}>
            <option value="">the first step</option>
            {run.steps.slice(1).map((step, index) => (
              <option
                key={step.key}
                value={step.key}
                disabled={run.steps.slice(0, index + 1).some((before) => before.state !== "SUCCEEDED")}
              >
                step {index + 2}, {humanise(step.key)}
              </option>
            ))}
          </select>
        </label>
      )}
      <details className="mb-4">
        <summary className="link w-fit">Change the inputs</summary>
        <div className="mt-3">
          {schemas === undefined ? null : (
            <ValueForm
              key={definition}
              label="Inputs"
              schema={schema ?? null}
              before={run.inputs}
              notes={issuesOf(plan, "inputs")}
              onDraft={setDraft}
            />
          )}
        </div>
      </details>
      <Definition
        run={run}
        chosen={definition}
        newer={plan?.definitionChanged === true || definition === "CURRENT"}
        onChoose={setDefinition}
      />
      <label className="mb-4 flex items-start gap-2">
        <input type="checkbox" className="mt-1" checked={force} onChange={(event) => setForce(event.target.checked)} />
        <span>
          Ignore cached results
          <span className="block text-meta text-soft">
            Packs fetch and compute everything again instead of reading their cache.
          </span>
        </span>
      </label>
      {plan === null ? null : <Plan plan={plan} />}
      <Notice problem={problem ?? (error === undefined ? null : problemOfError(error))} />
      <Foot onClose={onClose}>
        <Button
          kind="primary"
          data-autofocus=""
          disabled={fetching || planning || stale || asked.waiting || plan?.allowed !== true || draft.unreadable}
          onClick={() => void go()}
        >
          Run again{start}
          {draft.changed ? " with changes" : ""}
        </Button>
      </Foot>
    </Dialog>
  );
}

/** The choice between the run's definition and the current one. */
function Definition({
  run,
  chosen,
  newer,
  onChoose,
}: {
  run: RunWholeFragment;
  chosen: DefinitionChoice;
  newer: boolean;
  onChoose: (choice: DefinitionChoice) => void;
}): ReactNode {
  const current = run.pipeline?.currentVersion.number;
  if (!newer || current === undefined) return null;
  return (
    <label className="mb-4 flex items-start gap-2">
      <input
        type="checkbox"
        className="mt-1"
        checked={chosen === "CURRENT"}
        onChange={(event) => onChoose(event.target.checked ? "CURRENT" : "OF_RUN")}
      />
      <span>
        Use the current definition, v{current}
        <span className="block text-meta text-soft">This run was made with v{run.version?.number}.</span>
      </span>
    </label>
  );
}

function CancelDialog({ run, onClose }: Props): ReactNode {
  const [{ fetching }, cancel] = useMutation(CancelRunDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const step = currentStep(run);

  async function go(): Promise<void> {
    const answer = await cancel({ id: run.id });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.cancelRun, "RunSuccess");
    if (done !== null) onClose();
    else setProblem(refusal);
  }

  return (
    <Dialog title="Cancel this run?" onClose={onClose}>
      <p>
        {step === null ? "It stops before its first step." : `It stops at ${humanise(step.key)}.`} Steps that have
        succeeded are kept, and it can be resumed later.
      </p>
      <Notice problem={problem} />
      <Foot onClose={onClose} away="Keep running">
        <Button kind="danger" data-autofocus="" disabled={fetching} onClick={() => void go()}>
          Cancel the run
        </Button>
      </Foot>
    </Dialog>
  );
}

function Foot({
  onClose,
  away = "Close",
  children,
}: {
  onClose: () => void;
  away?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <div className="mt-5 flex justify-end gap-2">
      <Button onClick={onClose}>{away}</Button>
      {children}
    </div>
  );
}

/** The plan's errors by field below `root`. */
function issuesOf(plan: PreviewPartsFragment | null, root: string): Record<string, string> {
  return Object.fromEntries(
    (plan?.issues ?? []).flatMap((issue) => {
      const field = fieldOf(issue, root);
      return field === undefined ? [] : [[field, issue.message]];
    }),
  );
}

/** The field below `root` that an error is about. */
function fieldOf({ path, severity }: PreviewPartsFragment["issues"][number], root: string): string | undefined {
  return severity === "ERROR" && path[0] === root ? path[1] : undefined;
}

/** A short name of a text; equal texts have equal names. */
function hash(text: string): string {
  let value = 5381;
  for (let index = 0; index < text.length; index += 1) value = (Math.imul(value, 33) ^ text.charCodeAt(index)) >>> 0;
  return value.toString(36);
}
