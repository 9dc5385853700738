import { type ReactNode, useState } from "react";

import { Button } from "./Button.tsx";
import { Dialog } from "./Dialog.tsx";
import { Notice } from "./Notice.tsx";
import type { Problem } from "../lib/server/problem.ts";

interface Props {
  title: string;
  /** Label of the confirming button: a verb. */
  word: string;
  /** Label of the cancelling button. */
  keep: string;
  onClose: () => void;
  /** Runs the command. A returned problem keeps the dialog open. */
  onConfirm: () => Promise<Problem | null>;
  children: ReactNode;
}

/** Asks before an action that cannot be undone. */
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
