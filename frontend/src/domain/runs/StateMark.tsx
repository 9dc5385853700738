import type { ReactNode } from "react";

import { type State, type StateIcon, STATES, type Tone } from "./states.ts";

const INK: Record<Tone, string> = {
  ok: "text-ok",
  run: "text-run",
  warn: "text-warn",
  fail: "text-fail",
  idle: "text-idle",
};
const TINT: Record<Tone, string> = {
  ok: "bg-ok-tint",
  run: "bg-run-tint",
  warn: "bg-warn-tint",
  fail: "bg-fail-tint",
  idle: "bg-idle-tint",
};

const SHAPES: Record<StateIcon, ReactNode> = {
  check: <path d="M3 8.5 6.5 12 13 4.5" />,
  cross: <path d="m4 4 8 8m0-8-8 8" />,
  running: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 8V2.5A5.5 5.5 0 0 1 13.5 8Z" fill="currentColor" stroke="none" />
    </>
  ),
  waiting: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="M8 5v3.2L10.2 9.6" />
    </>
  ),
  queued: <circle cx="8" cy="8" r="5.5" strokeDasharray="2.2 2.1" />,
  stopped: (
    <>
      <circle cx="8" cy="8" r="5.5" />
      <path d="m4.2 11.8 7.6-7.6" />
    </>
  ),
  none: <path d="M4.5 8h7" />,
  lost: <path d="M6 6a2 2 0 1 1 2.7 1.9c-.5.2-.7.6-.7 1.1v.4M8 12.2v.1" />,
};

/** The icon of a state; always shown with its word. */
export function StateGlyph({ state }: { state: State }): ReactNode {
  const { icon, tone } = STATES[state];
  return (
    <svg
      viewBox="0 0 16 16"
      aria-hidden="true"
      className={`size-4 shrink-0 ${INK[tone]}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.8"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {SHAPES[icon]}
    </svg>
  );
}

/** Icon and word of a state; the sentence on hover. */
export function StateMark({
  state,
  tinted = false,
  detail,
}: {
  state: State;
  tinted?: boolean;
  detail?: string | undefined;
}): ReactNode {
  const { word, sentence, tone } = STATES[state];
  const shape = tinted ? `rounded px-2 py-0.5 ${TINT[tone]}` : "";
  return (
    <span
      className={`inline-flex items-center gap-1.5 align-bottom whitespace-nowrap ${INK[tone]} ${shape}`}
      title={detail ?? sentence}
    >
      <StateGlyph state={state} />
      <span className="font-medium">{word}</span>
    </span>
  );
}
