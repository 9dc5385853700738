import { numberOf, oneOf, textOf } from "../../lib/browser/search.ts";
import { LEVELS, type LogAddress } from "./log/address.ts";
import { type Tab, TABS } from "./step/tabs.ts";
import type { Stretch } from "./timeline/axis.ts";
import type { Fold } from "./timeline/fold.ts";

/** The selection on the page; in the address, so that a link shows the same. */
export interface RunSearch extends LogAddress {
  step?: string | undefined;
  attempt?: number | undefined;
  tab?: Tab | undefined;
  scale?: "even" | undefined;
  /** The part of the timeline that is shown: `1200-4000`, in milliseconds since the run was created. */
  zoom?: string | undefined;
  /** Whether stretches of succeeded steps are one row; by default as the run needs it. */
  fold?: Fold | undefined;
  /** A dialog to open with the page. */
  ask?: "resume" | undefined;
}

const ZOOM = /^(-?\d{1,13})-(\d{1,13})$/;

export function runSearch(given: Record<string, unknown>): RunSearch {
  return {
    step: textOf(given["step"]),
    attempt: numberOf(given["attempt"]),
    tab: oneOf(given["tab"], TABS),
    line: numberOf(given["line"]),
    find: textOf(given["find"]),
    level: oneOf(given["level"], LEVELS),
    scale: oneOf(given["scale"], ["even"] as const),
    zoom: zoomIn(given["zoom"]),
    fold: oneOf(given["fold"], ["on", "off"] as const),
    ask: oneOf(given["ask"], ["resume"] as const),
  };
}

function zoomIn(value: unknown): string | undefined {
  const text = textOf(value);
  return text !== undefined && zoomExtent(text, 0) !== null ? text : undefined;
}

/** The moments that a zoom of the address names, for a run created at `origin`; null when it names none. */
export function zoomExtent(text: string | undefined, origin: number): Stretch | null {
  const [, from, to] = ZOOM.exec(text ?? "") ?? [];
  return from === undefined || to === undefined || Number(from) >= Number(to)
    ? null
    : { from: origin + Number(from), to: origin + Number(to) };
}

/** A stretch as the address has it. */
export function zoomText({ from, to }: Stretch, origin: number): string {
  const begin = Math.floor(from - origin);
  return `${begin}-${Math.max(begin + 1, Math.ceil(to - origin))}`;
}
