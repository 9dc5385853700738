import { memo, type ReactNode } from "react";

import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { STATES, type Tone } from "../../../domain/runs/states.ts";
import { count, duration, humanise, tokens } from "../../../lib/text/format.ts";
import type { StepRowFragment } from "../run.generated.ts";
import { sameSegments, type Segment } from "./axis.ts";
import { GRID, LANE, PACK, ROW } from "./grid.ts";
import { isReused } from "./reuse.ts";

const FILL: Record<Tone, string> = {
  ok: "bg-ok",
  run: "bg-run stripes",
  warn: "bg-warn",
  fail: "bg-fail",
  idle: "bg-idle",
};

interface LineProps {
  step: StepRowFragment;
  number: number;
  segments: readonly Segment[];
  /** How long it has worked. */
  seconds: number;
  selected: boolean;
  ended: boolean;
  /** How often another worker went on with it. */
  takeovers: number;
  onSelect: (key: string) => void;
}

export function goesOn(step: StepRowFragment): boolean {
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
    one.takeovers === other.takeovers &&
    one.onSelect === other.onSelect &&
    sameSegments(one.segments, other.segments)
  );
}

export const StepLine = memo(function StepLine({
  step,
  number,
  segments,
  seconds,
  selected,
  ended,
  takeovers,
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
  const note = live ? progressOf(step) : resultOf(step, ended, takeovers);
  return (
    <button
      type="button"
      data-step={step.key}
      data-row=""
      aria-pressed={selected}
      onClick={() => onSelect(step.key)}
      className={`row group ${GRID} ${ROW} ${selected ? "bg-accent-tint shadow-[inset_2px_0_0_var(--accent)]" : "hover:bg-hover"}`}
    >
      <span className="text-right text-soft">{number}</span>
      <StateGlyph state={step.state} />
      <span className="truncate font-medium">
        {humanise(step.key)}
        <span className="sr-only"> {word}</span>
        {/* A phone has no lane to say it in. */}
        {live || step.wait !== null ? (
          <span data-progress="" className="font-normal text-soft md:hidden">
            {" "}
            · {note}
          </span>
        ) : null}
      </span>
      <span className={`truncate font-mono text-meta text-soft ${PACK}`} title={pack ?? undefined}>
        {pack}
      </span>
      <span className={`relative self-stretch overflow-hidden ${LANE}`}>
        <span aria-hidden="true" className={`absolute inset-x-0 h-3 ${note === "" ? "top-3" : "top-1"}`}>
          {segments.map((segment, index) => (
            // Bars have no name of their own and are only ever added at the end.
            // oxlint-disable-next-line react/no-array-index-key
            <Bar key={`${segment.kind} ${index}`} segment={segment} />
          ))}
        </span>
        {note === "" ? null : <Note text={note} segments={segments} selected={selected} />}
      </span>
      <span className="text-right text-soft">
        {step.attempts.length === 0 || step.state === "PENDING" || isReused(step) ? "" : duration(seconds)}
      </span>
    </button>
  );
}, sameLine);

/** Under the bars, beginning or ending where they do, so that it never covers one. */
function Note({
  text,
  segments,
  selected,
}: {
  text: string;
  segments: readonly Segment[];
  selected: boolean;
}): ReactNode {
  const [first, last] = [segments[0], segments.at(-1)];
  const left = first?.left ?? 0;
  const right = last === undefined ? 0 : 100 - last.left - last.width;
  // On the side with more room.
  const place =
    left <= right ? { left: `${left}%`, right: 0 } : { left: 0, right: `${right}%`, textAlign: "right" as const };
  return (
    <span
      title={text}
      className={`absolute truncate text-meta text-soft ${first === undefined ? "inset-y-0 content-center pl-1.5" : "bottom-0.5"}`}
      style={place}
    >
      {/* Covers the lines behind it. */}
      <span className={selected ? "bg-accent-tint" : "bg-page group-hover:bg-hover"}>{text}</span>
    </span>
  );
}

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
        className={`absolute inset-y-px rounded-xs ${FILL[tone]} ${tone === "fail" ? "crossed" : ""}`}
        style={place}
      />
    );
  }
  if (segment.kind === "takeover")
    return (
      <span
        title="Another worker took over"
        className="absolute -inset-y-0.5 border-l-2 border-ink"
        style={{ left: place.left }}
      />
    );
  const { says, border } = HOLLOW[segment.kind === "queue" ? "queue" : "wait"];
  return (
    <span
      title={`${says} ${duration(segment.seconds)}`}
      className={`absolute inset-y-0.5 rounded-xs border ${border}`}
      style={place}
    />
  );
}

function progressOf(step: StepRowFragment): string {
  const milestone = step.milestones.at(-1)?.message;
  const share = step.progress === null ? null : `${Math.round(step.progress * 100)}%`;
  return [share, milestone].filter((part) => part !== null && part !== undefined).join(" · ") || "Running";
}

function resultOf(step: StepRowFragment, ended: boolean, takeovers: number): string {
  if (step.wait !== null) return step.wait.message;
  if (step.state === "PENDING") return ended ? "Not reached" : "Pending";
  const parts = isReused(step) ? ["reused"] : [];
  if (step.attempts.length > 1) parts.push(count(step.attempts.length, "attempt"));
  if (takeovers > 0) parts.push(count(takeovers, "takeover"));
  if (step.artifacts.length > 0) parts.push(count(step.artifacts.length, "file"));
  const used = (step.cost.usage?.input ?? 0) + (step.cost.usage?.output ?? 0);
  if (used > 0) parts.push(tokens(used));
  if (step.warnings.length > 0) parts.push(count(step.warnings.length, "warning"));
  return parts.join(" · ");
}
