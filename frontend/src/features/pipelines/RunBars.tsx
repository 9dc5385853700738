import type { ReactNode } from "react";

import type { RunState } from "../../domain/fragments.generated.ts";
import { duration } from "../../lib/text/format.ts";
import { STATES, type Tone } from "../../domain/runs/states.ts";

interface Bar {
  id: string;
  state: RunState;
  workSeconds: number;
}

const BARS = 12;
const HEIGHT = 20;
const WIDTH = 5;
const GAP = 2;
/** Low enough to tell from high ones, high enough for their shape to be seen. */
const LOWEST = 8;
const INK: Record<Tone, string> = {
  ok: "text-ok",
  run: "text-run",
  warn: "text-warn",
  fail: "text-fail",
  idle: "text-idle",
};

/** The last runs, oldest left: height is how long they worked, the shape at the top is how they ended. */
export function RunBars({ runs }: { runs: readonly Bar[] }): ReactNode {
  const shown = runs.slice(0, BARS).toReversed();
  const longest = Math.max(...shown.map(({ workSeconds }) => workSeconds), 0.001);
  const failed = shown.filter(({ state }) => state === "FAILED").length;
  if (shown.length === 0) return <svg width={BARS * (WIDTH + GAP)} height={HEIGHT} aria-hidden="true" />;
  return (
    <svg
      width={BARS * (WIDTH + GAP)}
      height={HEIGHT}
      role="img"
      aria-label={`Last ${shown.length} runs: ${failed === 0 ? "none failed" : `${failed} failed`}`}
    >
      {shown.map(({ id, state, workSeconds }, index) => {
        const height = LOWEST + (HEIGHT - LOWEST) * (workSeconds / longest);
        const left = (BARS - shown.length + index) * (WIDTH + GAP);
        return (
          <g key={id} transform={`translate(${left} ${HEIGHT - height})`} className={INK[STATES[state].tone]}>
            <title>{`${STATES[state].word}, ${duration(workSeconds)}`}</title>
            <Shape state={state} height={height} />
          </g>
        );
      })}
    </svg>
  );
}

/** Succeeded is solid, failed is cut aslant and split, running is open below, what was cancelled or waits is an outline. */
function Shape({ state, height }: { state: RunState; height: number }): ReactNode {
  switch (state) {
    case "SUCCEEDED":
      return <rect width={WIDTH} height={height} rx="1" fill="currentColor" />;
    case "FAILED":
      return (
        <path
          d={`M0 ${Math.min(4, height)} L${WIDTH} 0 V${height - 3} H0 Z M0 ${height - 1.5} H${WIDTH} V${height} H0 Z`}
          fill="currentColor"
        />
      );
    case "RUNNING":
    case "CANCELLING":
      return (
        <path d={`M0 ${height} V0 H${WIDTH} V${height} H${WIDTH - 1.5} V1.5 H1.5 V${height} Z`} fill="currentColor" />
      );
    case "QUEUED":
    case "WAITING":
    case "CANCELLED":
      return (
        <rect
          x="0.5"
          y="0.5"
          width={WIDTH - 1}
          height={Math.max(height - 1, 1)}
          rx="1"
          fill="none"
          stroke="currentColor"
        />
      );
    default:
      return state satisfies never;
  }
}
