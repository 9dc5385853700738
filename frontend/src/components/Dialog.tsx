import { type ReactNode, useEffect, useId, useRef } from "react";

import { Button } from "./Button.tsx";
import { ContentBoundary } from "./ContentBoundary.tsx";

/** A native modal dialog, open while it is rendered. */
export function Dialog({
  title,
  onClose,
  children,
  wide = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  // An unmount fires `close` too, but is no request to close: another dialog may have replaced this one.
  const leaving = useRef(false);
  useEffect(() => {
    const shown = dialog.current;
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
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={() => {
        if (!leaving.current) onClose();
      }}
      className={`m-auto max-h-[min(90vh,760px)] ${wide ? "w-[min(94vw,860px)]" : "w-[min(92vw,560px)]"} overflow-auto rounded-lg border border-line bg-page p-6 text-ink shadow-float`}
    >
      <h2 id={heading} className="mb-3">
        {title}
      </h2>
      <ContentBoundary what={title} of={[children]} beside={<Button onClick={onClose}>Close</Button>}>
        {children}
      </ContentBoundary>
    </dialog>
  );
}
