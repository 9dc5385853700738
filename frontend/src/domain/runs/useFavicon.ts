import { useEffect } from "react";

import { type State, STATES, type Tone } from "./states.ts";

const SHAPES: Record<Tone, string> = {
  ok: '<path d="M4 8.5 7 11.5 12.5 5" fill="none" stroke="white" stroke-width="2"/>',
  run: '<path d="M8 8V3.5A4.5 4.5 0 0 1 12.5 8Z" fill="white"/>',
  warn: '<path d="M8 4.5v4l2.5 1.5" fill="none" stroke="white" stroke-width="2"/>',
  fail: '<path d="m5 5 6 6m0-6-6 6" stroke="white" stroke-width="2"/>',
  idle: '<path d="M4.5 8h7" stroke="white" stroke-width="2"/>',
};
const FILLS: Record<Tone, string> = {
  ok: "#146c54",
  run: "#1a48c4",
  warn: "#8f6700",
  fail: "#93191b",
  idle: "#686e7b",
};
const PLAIN =
  '<rect x="2.5" y="2.5" width="11" height="3" rx="1" fill="white"/><rect x="2.5" y="6.5" width="8" height="3" rx="1" fill="white"/><rect x="2.5" y="10.5" width="5" height="3" rx="1" fill="white"/>';

function paint(fill: string, shape: string): void {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="${fill}"/>${shape}</svg>`;
  if (link !== null) link.href = `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

export function plainFavicon(): void {
  paint("#0f5c75", PLAIN);
}

/** The tab's icon carries the state for as long as the page shows. */
export function useFavicon(state: State): void {
  const { tone } = STATES[state];
  useEffect(() => {
    paint(FILLS[tone], SHAPES[tone]);
    return plainFavicon;
  }, [tone]);
}
