import { type KeyboardEvent, memo, type ReactNode, useMemo } from "react";

import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { useNow } from "../../../lib/time/clock.ts";
import { count, duration, humanise, tokens } from "../../../lib/text/format.ts";
import { isFinal, STATES, type Tone } from "../../../domain/runs/states.ts";
import { isReused } from "./reuse.ts";
import type { RunWholeFragment, StepRowFragment } from "../run.generated.ts";
import {
  axisOf,
  isUneven,
  latestOf,
  queueSegment,
  reachOf,
  sameSegments,
  type Segment,
  segmentsOf,
  workSeconds,
} from "./axis.ts";

const FILL: Record<Tone, string> = {
  ok: "bg-ok",
  run: "bg-run stripes",
  warn: "bg-warn",
  fail: "bg-fail",
  idle: "bg-idle",
};

export type Scale = "fit" | "even";

interface Props {
  run: RunWholeFragment;
  selected: string | null;
  scale: Scale;
  onSelect: (key: string) => void;
  onScale: (scale: Scale) => void;
}

/** One row per step, always; attempts are bars, waits are hollow. The order of rows is the pipeline. */
export const Timeline = memo(function Timeline({ run, selected, scale, onSelect, onScale }: Props): ReactNode {
  const moving = run.steps.some(goesOn) || run.state === "QUEUED";
  const tick = useNow(moving);
  // Once nothing moves, rows are memoised: of 200 rows, a key changes two.
  const latest = useMemo(() => latestOf(run.steps), [run.steps]);
  const now = moving ? Math.max(tick, latest) : Date.parse(run.endedAt ?? run.createdAt);
  const queuedAt = Date.parse(run.createdAt);
  const uneven = useMemo(() => isUneven(run.steps, now), [run.steps, now]);
  const even = uneven && scale === "even";
  const drawn = useMemo(() => {
    const times = run.steps.map((step) => workSeconds(step, now));
    const workMs = times.reduce((sum, time) => sum + time, 0) * 1000;
    const axis = axisOf(run.steps, moving && !even ? reachOf(queuedAt, workMs, now) : now, { queuedAt, even });
    const queue = queueSegment(queuedAt, run.steps, axis, now);
    const lines = run.steps.map((step, index) => ({
      step,
      seconds: times[index] ?? 0,
      segments: [...(index === 0 && queue !== null ? [queue] : []), ...segmentsOf(step, axis, now)],
    }));
    return { lines, breaks: axis.breaks };
  }, [run.steps, now, moving, queuedAt, even]);

  function move(event: KeyboardEvent<HTMLElement>): void {
    if (event.key === "Enter") {
      // Opens the row: on to what it shows.
      event.preventDefault();
      const key = document.activeElement instanceof HTMLElement ? document.activeElement.dataset["step"] : undefined;
      if (key !== undefined) onSelect(key);
      document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
      return;
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const rows = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-step]")];
    const place = rows.indexOf(document.activeElement as HTMLElement);
    const next = rows[Math.min(rows.length - 1, Math.max(0, place + (event.key === "ArrowDown" ? 1 : -1)))];
    next?.focus();
    if (next?.dataset["step"] !== undefined) onSelect(next.dataset["step"]);
  }

  return (
    <div>
      {uneven ? (
        <fieldset className="mb-1 flex justify-end gap-3 text-meta text-soft max-md:hidden">
          <legend className="sr-only">Scale of the timeline</legend>
          {(["fit", "even"] as const).map((one) => (
            <label
              key={one}
              className="inline-flex items-center gap-1"
              title={one === "fit" ? "To scale" : "All attempts the same width"}
            >
              <input type="radio" name="scale" checked={scale === one} onChange={() => onScale(one)} />
              {one === "fit" ? "Fit" : "Even"}
            </label>
          ))}
        </fieldset>
      ) : null}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrows move between its buttons */}
      <ol aria-label="Steps" onKeyDown={move} className="border-y border-line">
        {drawn.lines.map(({ step, seconds, segments }, index) => (
          // Rows out of sight are neither laid out nor painted: of 200, forty are seen.
          <li key={step.id} className="[contain-intrinsic-size:auto_36px] [content-visibility:auto]">
            <StepLine
              step={step}
              number={index + 1}
              segments={segments}
              breaks={drawn.breaks}
              seconds={seconds}
              selected={step.key === selected}
              ended={isFinal(run.state)}
              onSelect={onSelect}
            />
          </li>
        ))}
      </ol>
    </div>
  );
});

interface LineProps {
  step: StepRowFragment;
  number: number;
  segments: readonly Segment[];
  breaks: readonly number[];
  /** How long it has worked. */
  seconds: number;
  selected: boolean;
  ended: boolean;
  onSelect: (key: string) => void;
}

function goesOn(step: StepRowFragment): boolean {
  return step.wait !== null || step.attempts.some((attempt) => attempt.endedAt === null);
}

/** Whether a row looks the same: positions are recomputed at every change and mostly stay equal. */
function sameLine(one: LineProps, other: LineProps): boolean {
  return (
    one.step === other.step &&
    one.number === other.number &&
    one.seconds === other.seconds &&
    one.selected === other.selected &&
    one.ended === other.ended &&
    one.onSelect === other.onSelect &&
    one.breaks.join(" ") === other.breaks.join(" ") &&
    sameSegments(one.segments, other.segments)
  );
}

const StepLine = memo(function StepLine({
  step,
  number,
  segments,
  breaks,
  seconds,
  selected,
  ended,
  onSelect,
}: LineProps): ReactNode {
  const live = step.state === "RUNNING";
  const { word } = STATES[step.state];
  const pack =
    step.step !== null && "packName" in step.step
      ? step.step.packName
      : step.agent === null
        ? null
        : `agent ${step.agent}`;
  return (
    <button
      type="button"
      data-step={step.key}
      aria-pressed={selected}
      onClick={() => onSelect(step.key)}
      className={
        "row grid h-9 w-full -outline-offset-2 grid-cols-[1.5rem_1rem_minmax(7rem,11rem)_minmax(6rem,9rem)_1fr_4.5rem_minmax(7rem,12rem)] items-center gap-2 px-2 " +
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
        {breaks.map((place) => (
          <span
            key={place}
            className="absolute inset-y-[-10px] w-0 border-l border-dotted border-control"
            style={{ left: `${place}%` }}
            title="A pause, shortened"
          />
        ))}
        {segments.map((segment, index) => (
          // Bars have no name of their own and are only ever added at the end.
          // oxlint-disable-next-line react/no-array-index-key
          <Bar key={`${segment.kind} ${index}`} segment={segment} />
        ))}
      </span>
      <span className="text-right text-soft">
        {step.attempts.length === 0 || step.state === "PENDING" || isReused(step) ? "" : duration(seconds)}
      </span>
      <span className="truncate text-soft max-md:hidden">{live ? progressOf(step) : resultOf(step, ended)}</span>
    </button>
  );
}, sameLine);

const HOLLOW: Record<"wait" | "queue", { says: string; border: string }> = {
  wait: { says: "Waited", border: "border-dashed border-control" },
  queue: { says: "In the queue", border: "border-control" },
};

function Bar({ segment }: { segment: Segment }): ReactNode {
  const place = { left: `${segment.left}%`, width: `${segment.width}%` };
  if (segment.kind === "attempt" && segment.state !== null) {
    const { word, tone } = STATES[segment.state];
    return (
      <span
        title={`${word}, ${duration(segment.seconds)}`}
        className={`absolute inset-y-[3px] rounded-[2px] ${FILL[tone]} ${tone === "fail" ? "crossed" : ""}`}
        style={place}
      />
    );
  }
  const { says, border } = HOLLOW[segment.kind === "queue" ? "queue" : "wait"];
  return (
    <span
      title={`${says} ${duration(segment.seconds)}`}
      className={`absolute inset-y-[6px] rounded-[2px] border ${border}`}
      style={place}
    />
  );
}

function progressOf(step: StepRowFragment): string {
  const milestone = step.milestones.at(-1)?.message;
  const share = step.progress === null ? null : `${Math.round(step.progress * 100)}%`;
  return [share, milestone].filter((part) => part !== null && part !== undefined).join(" · ") || "Running";
}

function resultOf(step: StepRowFragment, ended: boolean): string {
  if (step.wait !== null) return step.wait.message;
  if (step.state === "PENDING") return ended ? "Not reached" : "Pending";
  const parts = isReused(step) ? ["reused"] : [];
  if (step.attempts.length > 1) parts.push(count(step.attempts.length, "attempt"));
  if (step.artifacts.length > 0) parts.push(count(step.artifacts.length, "file"));
  const used = (step.cost.usage?.input ?? 0) + (step.cost.usage?.output ?? 0);
  if (used > 0) parts.push(tokens(used));
  if (step.warnings.length > 0) parts.push(count(step.warnings.length, "warning"));
  return parts.join(" · ");
}
