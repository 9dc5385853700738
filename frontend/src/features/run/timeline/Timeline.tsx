import { type KeyboardEvent, memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";

import { useActions } from "../../../lib/browser/shortcuts.ts";
import { useNow } from "../../../lib/time/clock.ts";
import { isFinal } from "../../../domain/runs/states.ts";
import type { RunWholeFragment } from "../run.generated.ts";
import { takeoversByStep } from "../workers.ts";
import {
  axisOf,
  extentOf,
  isUneven,
  latestOf,
  queueSegment,
  reachOf,
  segmentsOf,
  type Stretch,
  takeoverSegments,
  workSeconds,
  zoomed,
  zoomedBy,
} from "./axis.ts";
import { canFold, each, type Fold, foldsByItself, rowsOf } from "./fold.ts";
import { FoldLine } from "./FoldLine.tsx";
import { Crosshair, Lines, Ruler } from "./Ruler.tsx";
import { goesOn, StepLine } from "./StepLine.tsx";
import { ticksOf } from "./ticks.ts";

export type Scale = "fit" | "even";

/** What a key changes of the part that is shown: its length, and its place by a share of that. */
const ZOOM_FACTOR = 0.5;
const ZOOM_SHIFT = 0.25;

interface Props {
  run: RunWholeFragment;
  selected: string | null;
  scale: Scale;
  /** The part of the run that fills the width, in moments. */
  zoom: Stretch | null;
  fold: Fold | undefined;
  onSelect: (key: string) => void;
  onScale: (scale: Scale) => void;
  onZoom: (change: (shown: Stretch | null) => Stretch | null) => void;
  onFold: (fold: Fold) => void;
}

/**
 * A row per step or folded stretch of steps; attempts are bars, waits are hollow. The order of rows is the pipeline.
 */
export const Timeline = memo(function Timeline({
  run,
  selected,
  scale,
  zoom,
  fold,
  onSelect,
  onScale,
  onZoom,
  onFold,
}: Props): ReactNode {
  const moving = run.steps.some(goesOn) || run.state === "QUEUED";
  const tick = useNow(moving);
  // Once nothing moves, rows are memoised: of 200 rows, a key changes two.
  const latest = useMemo(() => latestOf(run.steps), [run.steps]);
  const now = moving ? Math.max(tick, latest) : Date.parse(run.endedAt ?? run.createdAt);
  const queuedAt = Date.parse(run.createdAt);
  const uneven = useMemo(() => isUneven(run.steps, now), [run.steps, now]);
  const even = uneven && scale === "even";
  const takeovers = useMemo(() => takeoversByStep(run), [run]);
  const drawn = useMemo(() => {
    const times = run.steps.map((step) => workSeconds(step, now));
    const workMs = times.reduce((sum, time) => sum + time, 0) * 1000;
    const whole = axisOf(run.steps, moving && !even ? reachOf(queuedAt, workMs, now) : now, { queuedAt, even });
    const axis = zoomed(whole, zoom);
    const queue = queueSegment(queuedAt, run.steps, axis, now);
    const lines = run.steps.map((step, index) => ({
      step,
      seconds: times[index] ?? 0,
      segments: [
        ...(index === 0 && queue !== null ? [queue] : []),
        ...segmentsOf(step, axis, now),
        ...takeoverSegments(takeovers.get(step.key) ?? [], axis),
      ],
    }));
    return { whole, axis, ticks: ticksOf(axis), lines, ran: run.steps.some((step) => step.attempts.length > 0) };
  }, [run.steps, now, moving, queuedAt, even, zoom, takeovers]);

  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const foldable = useMemo(() => canFold(run.steps), [run.steps]);
  const folds = foldable && (fold === undefined ? foldsByItself(run.steps, run.state) : fold === "on");
  const rows = useMemo(
    () => (folds ? rowsOf(run.steps, selected, unfolded) : each(0, run.steps.length)),
    [folds, run.steps, selected, unfolded],
  );

  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (selected !== null) reveal(area.current, selected);
  }, [selected]);

  function move(event: KeyboardEvent<HTMLElement>): void {
    const focused = document.activeElement;
    if (event.key === "Enter") {
      const key = focused instanceof HTMLElement ? focused.dataset["step"] : undefined;
      // A folded stretch opens as a button does.
      if (key === undefined) return;
      // Opens the row: on to what it shows.
      event.preventDefault();
      onSelect(key);
      document.querySelector<HTMLElement>('[role="tab"][aria-selected="true"]')?.focus();
      return;
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    const lines = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-row]")];
    const place = lines.indexOf(focused as HTMLElement);
    const next = lines[Math.min(lines.length - 1, Math.max(0, place + (event.key === "ArrowDown" ? 1 : -1)))];
    next?.focus();
    if (next?.dataset["step"] !== undefined) onSelect(next.dataset["step"]);
  }

  function unfold(from: number, to: number): void {
    const keys = run.steps.slice(from, to + 1).map(({ key }) => key);
    setUnfolded(new Set([...unfolded, ...keys]));
    // The row that had the focus is gone.
    requestAnimationFrame(() => area.current?.querySelector<HTMLElement>(`[data-step="${keys[0]}"]`)?.focus());
  }

  const step = run.steps.find(({ key }) => key === selected);
  const extent = step === undefined ? null : extentOf(step, now);
  const zoomTo = useCallback((to: Stretch | null) => onZoom(() => to), [onZoom]);
  const zoomBy = (change: Parameters<typeof zoomedBy>[2]) => onZoom((shown) => zoomedBy(drawn.whole, shown, change));
  useActions("Timeline", [
    { keys: "z", says: "Zoom to the step", quiet: true, act: () => extent !== null && zoomTo(extent) },
    { keys: "+", says: "Zoom in", quiet: true, act: () => zoomBy({ factor: ZOOM_FACTOR, focus: extent }) },
    { keys: "-", says: "Zoom out", quiet: true, act: () => zoomBy({ factor: 1 / ZOOM_FACTOR, focus: extent }) },
    { keys: ",", says: "Move to what was before", quiet: true, act: () => zoomBy({ shift: -ZOOM_SHIFT }) },
    { keys: ".", says: "Move to what came after", quiet: true, act: () => zoomBy({ shift: ZOOM_SHIFT }) },
    { keys: "0", says: "Reset the zoom", quiet: true, act: () => zoomTo(null) },
  ]);
  return (
    <>
      <div className="sticky top-0 z-1 border-b border-line bg-page pt-2">
        {foldable || uneven || drawn.ran ? (
          <div
            className={`flex min-h-7 flex-wrap items-center gap-x-4 px-2 text-meta text-soft ${foldable ? "" : "max-md:hidden"}`}
          >
            {foldable ? (
              <label className="inline-flex items-center gap-1.5 pointer-coarse:gap-2.5">
                <input
                  type="checkbox"
                  checked={folds}
                  onChange={() => {
                    setUnfolded(new Set());
                    onFold(folds ? "off" : "on");
                  }}
                />
                Fold what succeeded
              </label>
            ) : null}
            {uneven ? (
              <fieldset className="flex gap-3 max-md:hidden">
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
            {drawn.ran ? (
              <span className="ml-auto flex gap-3 max-md:hidden">
                <button
                  type="button"
                  className="link disabled:text-soft disabled:no-underline"
                  title="Or drag over the bars"
                  disabled={extent === null}
                  onClick={() => zoomTo(extent)}
                >
                  Zoom to step
                </button>
                {zoom === null ? null : (
                  <button type="button" className="link" onClick={() => zoomTo(null)}>
                    Reset zoom
                  </button>
                )}
              </span>
            ) : null}
          </div>
        ) : null}
        <Ruler ticks={drawn.ticks} />
      </div>
      <div ref={area} className="relative select-none">
        <Lines ticks={drawn.ticks} breaks={drawn.axis.breaks} />
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrows move between its buttons */}
        <ol aria-label="Steps" onKeyDown={move} className="relative border-b border-line">
          {rows.map(({ from, to }) => {
            const lines = drawn.lines.slice(from, to + 1);
            const [line] = lines;
            if (line === undefined) return null;
            return (
              // Rows out of sight are neither laid out nor painted: of 200, forty are seen.
              <li
                key={line.step.id}
                className="[contain-intrinsic-size:auto_36px] [content-visibility:auto] pointer-coarse:[contain-intrinsic-size:auto_44px]"
              >
                {lines.length > 1 ? (
                  <FoldLine
                    steps={lines.length}
                    number={from + 1}
                    segments={lines.flatMap(({ segments }) => segments)}
                    seconds={lines.reduce((sum, { seconds }) => sum + seconds, 0)}
                    onUnfold={() => unfold(from, to)}
                  />
                ) : (
                  <StepLine
                    step={line.step}
                    number={from + 1}
                    segments={line.segments}
                    seconds={line.seconds}
                    selected={line.step.key === selected}
                    ended={isFinal(run.state)}
                    takeovers={takeovers.get(line.step.key)?.length ?? 0}
                    onSelect={onSelect}
                  />
                )}
              </li>
            );
          })}
        </ol>
        <Crosshair area={area} axis={drawn.axis} origin={queuedAt} onZoom={zoomTo} />
      </div>
    </>
  );
});

/** Scrolls the list, and nothing but the list, so that the row of a step can be seen. */
function reveal(list: HTMLElement | null, key: string): void {
  const pane = list?.closest<HTMLElement>("[data-pane]");
  const row = list?.querySelector<HTMLElement>(`[data-step="${key}"]`);
  if (list === null || pane === null || pane === undefined || row === null || row === undefined) return;
  const [box, line] = [pane.getBoundingClientRect(), row.getBoundingClientRect()];
  // The ruler covers the top of the pane.
  const top = box.top + (list.previousElementSibling?.getBoundingClientRect().height ?? 0);
  if (line.top < top) pane.scrollTop -= top - line.top;
  else if (line.bottom > box.bottom) pane.scrollTop += line.bottom - box.bottom;
}
