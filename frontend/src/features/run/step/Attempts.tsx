import type { ReactNode } from "react";

import { Timestamp } from "../../../components/Timestamp.tsx";
import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { duration, secondsBetween } from "../../../lib/text/format.ts";
import { STATES } from "../../../domain/runs/states.ts";
import type { RunWholeFragment, StepRowFragment } from "../run.generated.ts";
import { takeoversByStep, workerAt } from "../workers.ts";

interface Props {
  run: RunWholeFragment;
  step: StepRowFragment;
  /** The number of the selected attempt. */
  chosen: number | undefined;
  onChoose: (attempt: number | undefined) => void;
}

/** The attempts of a step, and the takeovers between them; selecting an attempt shows its input, output and log. */
export function Attempts({ run, step, chosen, onChoose }: Props): ReactNode {
  const takeovers = takeoversByStep(run).get(step.key) ?? [];
  if (step.attempts.length === 0 && takeovers.length === 0) return null;
  return (
    <div className="mt-4 text-dense">
      <div className={step.attempts.length === 0 ? "hidden" : ""}>
        <h3 className="mb-1">Attempts</h3>
        <ol className="flex flex-wrap gap-x-2 gap-y-1">
          {step.attempts.map(({ id, number, state, startedAt, endedAt, failure, reuse }) => (
            <li key={id}>
              <button
                type="button"
                aria-pressed={number === chosen}
                title={failure?.message}
                onClick={() => onChoose(number === chosen ? undefined : number)}
                className={`inline-flex flex-wrap items-center gap-x-1.5 rounded border px-2 py-0.5 text-left pointer-coarse:min-h-11 ${number === chosen ? "border-accent bg-accent-tint" : "border-line bg-page hover:bg-hover"}`}
              >
                {number} <StateGlyph state={state} />
                <span className="sr-only">{STATES[state].word}</span>
                <Timestamp at={startedAt} seconds />
                {reuse === null ? null : <span className="text-soft">reused</span>}
                {endedAt === null || reuse !== null ? null : (
                  <span className="text-soft">{duration(secondsBetween(startedAt, endedAt))}</span>
                )}
                {failure === null ? null : (
                  <span className="text-soft">{failure.code.toLowerCase().replaceAll("_", " ")}</span>
                )}
                {run.takeovers.length === 0 || reuse !== null ? null : (
                  <span className="text-soft wrap-anywhere">on {workerAt(run, startedAt)}</span>
                )}
              </button>
            </li>
          ))}
        </ol>
      </div>
      {takeovers.length === 0 ? null : (
        <ul aria-label="Takeovers" className="mt-1.5 text-soft">
          {takeovers.map(({ at, worker, previousWorker, lost }) => (
            <li key={at} className="wrap-anywhere">
              <Timestamp at={at} seconds />{" "}
              {lost
                ? `${worker} took over from ${previousWorker}, which was lost`
                : `moved from ${previousWorker} to ${worker}`}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
