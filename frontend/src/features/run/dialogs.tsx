import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { lost, Notice, type Refusal, refusalOf } from "../../components/Notice.tsx";
import { humanise } from "../../lib/format.ts";
import { Plan } from "./Plan.tsx";
import { CancelRunDocument, type RunWholeFragment, RerunPlanDocument, RerunRunDocument, ResumePlanDocument, ResumeRunDocument } from "./run.generated.ts";

interface Props {
  run: RunWholeFragment;
  onClose: () => void;
}

type Parsed = { value: unknown; wrong: null } | { value: undefined; wrong: string };

function parsed(text: string): Parsed {
  try {
    return { value: JSON.parse(text) as unknown, wrong: null };
  } catch {
    return { value: undefined, wrong: 'This is no JSON. Texts need quotes: "text".' };
  }
}

/** The step a resume goes on at: the first that has not succeeded. */
export function resumeStep(run: RunWholeFragment): RunWholeFragment["steps"][number] | null {
  return run.steps.find((step) => step.state !== "SUCCEEDED") ?? null;
}

export function ResumeDialog({ run, onClose, input }: Props & { input: unknown }): ReactNode {
  const changing = input !== undefined;
  const given = JSON.stringify(input, null, 2);
  const [text, setText] = useState(given);
  const read: Parsed = changing ? parsed(text) : { value: undefined, wrong: null };
  const changed = changing && text !== given && read.wrong === null;
  const stepInput = changed ? read.value : null;
  const [{ data, error }] = useQuery({ query: ResumePlanDocument, variables: { id: run.id, stepInput }, requestPolicy: "network-only" });
  const [{ fetching }, resume] = useMutation(ResumeRunDocument);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const plan = data?.run?.resumePreview ?? null;
  const step = resumeStep(run);

  async function go(): Promise<void> {
    const answer = await resume({ id: run.id, stepInput });
    if (answer.error !== undefined) setProblem(lost(answer.error));
    else if (answer.data?.resumeRun.__typename === "RunSuccess") onClose();
    else setProblem(refusalOf(answer.data?.resumeRun ?? {}));
  }

  const place = step === null ? "" : ` from step ${run.steps.indexOf(step) + 1}`;
  return (
    <Dialog title={changing ? `Change the input of ${humanise(step?.key ?? "the step")}` : `Resume${place}`} onClose={onClose}>
      {changing ? <JsonField label="Input of the step" text={text} onChange={setText} wrong={read.wrong} /> : null}
      {plan === null ? null : <Plan plan={plan} />}
      <Notice problem={problem ?? (error === undefined ? null : lost(error))} />
      <Foot onClose={onClose}>
        <Button kind="primary" data-autofocus={changing ? undefined : ""} disabled={fetching || plan?.allowed !== true || read.wrong !== null} onClick={() => void go()}>
          {changed ? `Resume${place} with this input` : `Resume${place}`}
        </Button>
      </Foot>
    </Dialog>
  );
}

export function RerunDialog({ run, onClose }: Props): ReactNode {
  const given = JSON.stringify(run.inputs, null, 2);
  const [text, setText] = useState(given);
  const [from, setFrom] = useState("");
  const [key] = useState(() => crypto.getRandomValues(new Uint32Array(4)).join("-"));
  const read = parsed(text);
  const inputs = text === given || read.wrong !== null ? {} : difference(run.inputs, read.value);
  const fromStep = from === "" ? null : from;
  const [{ data, error }] = useQuery({ query: RerunPlanDocument, variables: { id: run.id, inputs, fromStep }, requestPolicy: "network-only" });
  const [{ fetching }, rerun] = useMutation(RerunRunDocument);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const navigate = useNavigate();
  const plan = data?.run?.rerunPreview ?? null;

  async function go(): Promise<void> {
    const answer = await rerun({ id: run.id, inputs, fromStep, idempotencyKey: key });
    const told = answer.data?.rerunRun;
    if (answer.error !== undefined) setProblem(lost(answer.error));
    else if (told?.__typename === "StartRunSuccess" && told.run !== null) {
      onClose();
      await navigate({ to: "/runs/$run", params: { run: told.run.id } });
    } else setProblem(refusalOf(told ?? {}));
  }

  return (
    <Dialog title="Run again" onClose={onClose}>
      <p className="mb-3 text-soft">A new run. This one stays as it is.</p>
      {run.steps.length < 2 ? null : (
        <label className="mb-4 block">
          <span className="mb-1 block font-medium">From</span>
          <select className="field" value={from} onChange={(event) => setFrom(event.target.value)}>
            <option value="">the first step</option>
            {run.steps.slice(1).map((step, index) => (
              <option key={step.key} value={step.key} disabled={run.steps.slice(0, index + 1).some((before) => before.state !== "SUCCEEDED")}>
                step {index + 2}, {humanise(step.key)}
              </option>
            ))}
          </select>
        </label>
      )}
      <JsonField label="Inputs" text={text} onChange={setText} wrong={read.wrong} />
      {plan === null ? null : <Plan plan={plan} />}
      <Notice problem={problem ?? (error === undefined ? null : lost(error))} />
      <Foot onClose={onClose}>
        <Button kind="primary" data-autofocus="" disabled={fetching || plan?.allowed !== true || read.wrong !== null} onClick={() => void go()}>
          {text === given ? "Run again" : "Run again with changes"}
        </Button>
      </Foot>
    </Dialog>
  );
}

export function CancelDialog({ run, onClose }: Props): ReactNode {
  const [{ fetching }, cancel] = useMutation(CancelRunDocument);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const step = run.currentStep;

  async function go(): Promise<void> {
    const answer = await cancel({ id: run.id });
    if (answer.error !== undefined) setProblem(lost(answer.error));
    else if (answer.data?.cancelRun.__typename === "RunSuccess") onClose();
    else setProblem(refusalOf(answer.data?.cancelRun ?? {}));
  }

  return (
    <Dialog title="Cancel this run?" onClose={onClose}>
      <p>
        {step === null ? "It stops before its first step." : `It stops at ${humanise(step.key)}.`} Steps that have succeeded are kept, and it can be resumed later.
      </p>
      <Notice problem={problem} />
      <Foot onClose={onClose} away="Let it run">
        <Button kind="danger" data-autofocus="" disabled={fetching} onClick={() => void go()}>
          Cancel the run
        </Button>
      </Foot>
    </Dialog>
  );
}

function Foot({ onClose, away = "Close", children }: { onClose: () => void; away?: string; children: ReactNode }): ReactNode {
  return (
    <div className="mt-5 flex justify-end gap-2">
      <Button onClick={onClose}>{away}</Button>
      {children}
    </div>
  );
}

function JsonField({ label, text, onChange, wrong }: { label: string; text: string; onChange: (text: string) => void; wrong: string | null }): ReactNode {
  const id = useId();
  return (
    <div className="mb-4">
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      <textarea
        id={id}
        className="field font-mono text-dense"
        rows={Math.min(12, text.split("\n").length + 1)}
        value={text}
        spellCheck={false}
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-wrong`}
        onChange={(event) => onChange(event.target.value)}
      />
      <p id={`${id}-wrong`} className="text-dense text-fail" aria-live="polite">
        {wrong}
      </p>
    </div>
  );
}

/** The inputs that differ: the new value, or null for one that was taken out. */
export function difference(before: unknown, after: unknown): Record<string, unknown> {
  const old = (before ?? {}) as Record<string, unknown>;
  const next = (after ?? {}) as Record<string, unknown>;
  const found: Record<string, unknown> = {};
  for (const name of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (JSON.stringify(old[name]) !== JSON.stringify(next[name])) found[name] = next[name] ?? null;
  }
  return found;
}
