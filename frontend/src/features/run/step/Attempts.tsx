import type { ReactNode } from "react";

import { Timestamp } from "../../../components/Timestamp.tsx";
import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { duration, secondsBetween } from "../../../lib/text/format.ts";
import { STATES } from "../../../domain/runs/states.ts";
import type { StepRowFragment } from "../run.generated.ts";

interface Props {
  step: StepRowFragment;
  /** The number of the selected attempt. */
  chosen: number | undefined;
  onChoose: (attempt: number | undefined) => void;
}

/** The attempts of a step; selecting one shows its input, output and log. */
export function Attempts({ step, chosen, onChoose }: Props): ReactNode {
  if (step.attempts.length === 0) return null;
  return (
    <div className="mt-4 flex flex-wrap items-center gap-x-2 gap-y-1 text-dense">
      <h3 className="mr-1 text-soft">Attempts</h3>
      <ol className="contents">
        {step.attempts.map(({ id, number, state, startedAt, endedAt, failure, reuse }) => (
          <li key={id}>
            <button
              type="button"
              aria-pressed={number === chosen}
              title={failure?.message}
              onClick={() => onChoose(number === chosen ? undefined : number)}
              className={`inline-flex items-center gap-1.5 rounded border px-2 py-0.5 pointer-coarse:min-h-11 ${number === chosen ? "border-accent bg-accent-tint" : "border-line bg-page hover:bg-hover"}`}
            >
              {number} <StateGlyph state={state} />
              <span className="sr-only">{STATES[state].word}</span>
              <Timestamp at={startedAt} />
              {reuse === null ? null : <span className="text-soft">reused</span>}
              {endedAt === null || reuse !== null ? null : (
                <span className="text-soft">{duration(secondsBetween(startedAt, endedAt))}</span>
              )}
              {failure === null ? null : (
                <span className="text-soft">{failure.code.toLowerCase().replaceAll("_", " ")}</span>
              )}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
