// Where the keyboard's focus goes when something opens, and where it goes back to.

import { type RefObject, useEffect, useRef, useState } from "react";

/** How long a page may take to show what the focus goes back to. */
const PATIENCE_MS = 5000;

/** Whether nothing has the focus: what had it is gone. */
function isLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

/** Gives a lost focus back to what had it before something opened; where that is gone, to the page's heading. */
export function returnFocus(opener: Element | null): void {
  if (!isLost() || !(opener instanceof HTMLElement) || opener === document.body) return;
  if (opener.isConnected) opener.focus();
  if (isLost()) focusHeading();
}

function focusHeading(): void {
  const heading = document.querySelector<HTMLElement>("main h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus();
}

/** Gives a lost focus to what a page shows that is still to come, unless something else takes it first. */
export function focusOnceShown(selector: string): void {
  function found(): boolean {
    const target = document.querySelector<HTMLElement>(selector);
    if (isLost()) target?.focus();
    return target !== null || !isLost();
  }
  const watching = new MutationObserver(() => {
    if (found()) watching.disconnect();
  });
  watching.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => watching.disconnect(), PATIENCE_MS);
}

const FIELDS = "[data-autofocus], input:not([type=hidden], .hidden), select, textarea";

/**
 * Gives the focus to an area when it opens, and back to what opened it when it closes.
 *
 * What has `data-autofocus` gets the focus, otherwise the first field, otherwise the area itself, which then needs a
 * `tabIndex`. A button that opens the area stays in the page meanwhile, `hidden` if need be: a new one is another.
 */
export function useFocusInside<Area extends HTMLElement>(): RefObject<Area | null> {
  const area = useRef<Area>(null);
  // Before it opens, since a hidden button has lost the focus.
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    // In place of something that was open, it goes back to what had opened that.
    const back = opener?.isConnected === true ? opener : document.activeElement;
    (area.current?.querySelector<HTMLElement>(FIELDS) ?? area.current)?.focus();
    return () => returnFocus(back);
  }, [opener]);
  return area;
}
