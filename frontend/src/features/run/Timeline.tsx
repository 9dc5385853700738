import { type KeyboardEvent, type ReactNode, useMemo } from "react";

import { StateGlyph } from "../../components/StateMark.tsx";
import { useNow } from "../../lib/clock.ts";
import { count, duration, humanise } from "../../lib/format.ts";
import { STATES, type Tone } from "../../lib/states.ts";
import type { RunWholeFragment, StepRowFragment } from "./run.generated.ts";
import { type Axis, axisOf, segmentsOf, workSeconds } from "./axis.ts";

const FILL: Record<Tone, string> = { ok: "bg-ok", run: "bg-run stripes", warn: "bg-warn", fail: "bg-fail", idle: "bg-idle" };

interface Props {
  run: RunWholeFragment;
  selected: string | null;
  onSelect: (key: string) => void;
}

/** One row per step, always; attempts are bars, waits are hollow. The order of rows is the pipeline. */
export function Timeline({ run, selected, onSelect }: Props): ReactNode {
  const running = run.steps.some((step) => step.attempts.some((attempt) => attempt.endedAt === null));
  const now = useNow(running);
  const axis = useMemo(() => axisOf(run.steps, now), [run.steps, now]);

  function move(event: KeyboardEvent<HTMLElement>): void {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-step]")];
    const place = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[Math.min(rows.length - 1, Math.max(0, place + (event.key === "ArrowDown" ? 1 : -1)))];
    next?.focus();
    if (next?.dataset["step"] !== undefined) onSelect(next.dataset["step"]);
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrows move between its buttons
    <ol aria-label="Steps" onKeyDown={move} className="border-y border-line">
      {run.steps.map((step, index) => (
        <li key={step.id}>
          <StepLine step={step} number={index + 1} axis={axis} now={now} selected={step.key === selected} onSelect={onSelect} />
        </li>
      ))}
    </ol>
  );
}

interface LineProps {
  step: StepRowFragment;
  number: number;
  axis: Axis;
  now: number;
  selected: boolean;
  onSelect: (key: string) => void;
}

function StepLine({ step, number, axis, now, selected, onSelect }: LineProps): ReactNode {
  const live = step.state === "RUNNING";
  const { word } = STATES[step.state];
  const pack = step.step !== null && "packName" in step.step ? step.step.packName : null;
  return (
    <button
      type="button"
      data-step={step.key}
      aria-pressed={selected}
      onClick={() => onSelect(step.key)}
      className={
        "row grid h-9 w-full grid-cols-[1.5rem_1rem_minmax(7rem,11rem)_minmax(6rem,10rem)_1fr_4.5rem_minmax(7rem,14rem)] items-center gap-2 px-2 " +
        "text-left text-dense max-md:grid-cols-[1.25rem_1rem_1fr_auto] " +
        (selected ? "bg-accent-tint shadow-[inset_2px_0_0_var(--accent)]" : "hover:bg-hover")
      }
    >
      <span className="text-right text-soft">{number}</span>
      <StateGlyph state={step.state} />
      <span className="truncate font-medium">
        {humanise(step.key)}
        <span className="sr-only"> {word}</span>
      </span>
      <span className="truncate font-mono text-meta text-soft max-md:hidden" title={pack ?? undefined}>
        {pack}
      </span>
      <span className="relative h-4 max-md:hidden" aria-hidden="true">
        {axis.breaks.map((place) => (
          <span key={place} className="absolute inset-y-[-10px] w-0 border-l border-dotted border-control" style={{ left: `${place}%` }} title="A pause, drawn short" />
        ))}
        {segmentsOf(step, axis, now).map((segment) => {
          const look = segment.state === null ? null : STATES[segment.state];
          return (
            <span
              key={`${segment.kind}${segment.left}`}
              title={look === null ? `Waited ${duration(segment.seconds)}` : `${look.word}, ${duration(segment.seconds)}`}
              className={
                "absolute inset-y-[3px] rounded-[2px] " +
                (look === null ? "inset-y-[6px] border border-dashed border-control" : `${FILL[look.tone]} ${look.tone === "fail" ? "crossed" : ""}`)
              }
              style={{ left: `${segment.left}%`, width: `${segment.width}%` }}
            />
          );
        })}
      </span>
      <span className="text-right text-soft">{step.attempts.length === 0 ? "" : duration(workSeconds(step, now))}</span>
      <span className="truncate text-soft max-md:col-start-3 max-md:hidden">{live ? progressOf(step) : resultOf(step)}</span>
    </button>
  );
}

function progressOf(step: StepRowFragment): string {
  const told = step.milestones.at(-1)?.message;
  const share = step.progress === null ? null : `${Math.round(step.progress * 100)} %`;
  return [share, told].filter((part) => part !== null && part !== undefined).join(" · ") || "Running";
}

function resultOf(step: StepRowFragment): string {
  if (step.wait !== null) return step.wait.message;
  if (step.state === "PENDING") return "not reached";
  const parts = [];
  if (step.attempts.length > 1) parts.push(count(step.attempts.length, "attempt"));
  if (step.artifacts.length > 0) parts.push(count(step.artifacts.length, "file"));
  if (step.warnings.length > 0) parts.push(count(step.warnings.length, "warning"));
  return parts.join(" · ");
}
