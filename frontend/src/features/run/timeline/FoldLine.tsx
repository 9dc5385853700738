import { ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";

import { StateGlyph } from "../../../domain/runs/StateMark.tsx";
import { count, duration } from "../../../lib/text/format.ts";
import type { Segment } from "./axis.ts";
import { GRID, LANE, PACK, ROW } from "./grid.ts";

interface Props {
  /** How many steps it stands for, and the number of the first. */
  steps: number;
  number: number;
  segments: readonly Segment[];
  seconds: number;
  onUnfold: () => void;
}

/** One row for a stretch of steps that succeeded. */
export function FoldLine({ steps, number, segments, seconds, onUnfold }: Props): ReactNode {
  const left = Math.min(...segments.map((segment) => segment.left));
  const right = Math.max(...segments.map((segment) => segment.left + segment.width));
  return (
    <button
      type="button"
      data-row=""
      aria-expanded={false}
      onClick={onUnfold}
      className={`row ${GRID} ${ROW} bg-panel hover:bg-hover`}
    >
      <span className="text-right text-soft">{number}</span>
      <StateGlyph state="SUCCEEDED" />
      <span className="flex items-center gap-1 truncate text-soft">
        {count(steps, "step")}
        <span className="sr-only"> succeeded, show them</span>
        <ChevronsUpDown aria-hidden="true" className="size-3.5 shrink-0" />
      </span>
      <span className={PACK} />
      <span aria-hidden="true" className={`relative self-stretch ${LANE}`}>
        {segments.length === 0 ? null : (
          <span
            className="absolute inset-y-3.5 rounded-xs bg-ok"
            style={{ left: `${left}%`, width: `${right - left}%` }}
          />
        )}
      </span>
      <span className="text-right text-soft">{duration(seconds)}</span>
    </button>
  );
}
