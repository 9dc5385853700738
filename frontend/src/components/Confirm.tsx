import { type ReactNode, useState } from "react";

import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Notice } from "./Notice.tsx";
import type { Problem } from "../lib/server/problem.ts";

interface Props {
  title: string;
  /** The button that does it; names the act. */
  word: string;
  /** The button that does not. */
  keep: string;
  onClose: () => void;
  /** Does it; a refusal keeps the dialog open. */
  onConfirm: () => Promise<Problem | null>;
  children: ReactNode;
}

/** Asks before something that cannot be undone, and says what it means. */
export function Confirm({ title, word, keep, onClose, onConfirm, children }: Props): ReactNode {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function go(): Promise<void> {
    setBusy(true);
    const refusal = await onConfirm();
    setBusy(false);
    if (refusal === null) onClose();
    else setProblem(refusal);
  }

  return (
    <Dialog title={title} onClose={onClose}>
      <div className="space-y-2">{children}</div>
      <Notice problem={problem} />
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose} data-autofocus="">
          {keep}
        </Button>
        <Button kind="danger" disabled={busy} onClick={() => void go()}>
          {word}
        </Button>
      </div>
    </Dialog>
  );
}
