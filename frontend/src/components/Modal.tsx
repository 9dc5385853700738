import { type ReactNode, useEffect, useRef } from "react";

import { returnFocus } from "../lib/browser/focus.ts";

interface Props {
  /** The name of the dialog, or the id of its heading. */
  label?: string;
  labelledBy?: string;
  onClose: () => void;
  /** Whether a click outside closes it; not where something may have been typed. */
  closesOutside?: boolean;
  className: string;
  children: ReactNode;
}

/**
 * A native modal dialog, open while it is rendered. The browser keeps the focus in it; afterwards it goes back to what
 * had it before, which the browser forgets when one dialog replaces another.
 *
 * What has `data-autofocus` gets the focus.
 */
export function Modal({ label, labelledBy, onClose, closesOutside = false, className, children }: Props): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  // An unmount fires `close` too, but is no request to close: another dialog may have replaced this one.
  const leaving = useRef(false);
  useEffect(() => {
    const shown = dialog.current;
    const opener = document.activeElement;
    leaving.current = false;
    shown?.showModal();
    const wanted = shown?.querySelector<HTMLElement>("[data-autofocus]");
    wanted?.focus();
    // A disabled button cannot take the focus: it gets the focus when enabled, unless the focus has moved.
    const start = document.activeElement;
    const waiting = new MutationObserver(() => {
      if (wanted?.matches(":disabled") !== false) return;
      waiting.disconnect();
      if (document.activeElement === start) wanted.focus();
    });
    if (wanted?.matches(":disabled") === true)
      waiting.observe(wanted, { attributes: true, attributeFilter: ["disabled"] });
    return () => {
      waiting.disconnect();
      leaving.current = true;
      shown?.close();
      returnFocus(opener);
    };
  }, []);
  return (
    // The attribute `closedby` would do for a click outside, but not in every browser.
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions
    <dialog
      ref={dialog}
      aria-label={label}
      aria-labelledby={labelledBy}
      onClose={() => {
        if (!leaving.current) onClose();
      }}
      onClick={({ target }) => {
        if (closesOutside && target === dialog.current) onClose();
      }}
      className={`border-line bg-page text-ink shadow-float ${className}`}
    >
      {children}
    </dialog>
  );
}
