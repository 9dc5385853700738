import { type FormEvent, type ReactNode, useId, useState } from "react";

import { Button } from "../../../components/Button.tsx";
import { Dialog } from "../../../components/Dialog.tsx";
import { DiffView } from "../../../components/DiffView.tsx";
import { Notice } from "../../../components/Notice.tsx";
import type { Problem } from "../../../lib/server/problem.ts";
import { count } from "../../../lib/text/format.ts";

interface Props {
  /** Whether the pipeline is not saved yet. */
  isNew: boolean;
  /** The text of the version it is based on, or of the pipeline it is a copy of. */
  before: { text: string; name: string } | null;
  text: string;
  /** Number of errors; saving is disabled while there are any. */
  errors: number;
  onSave: (note: string) => Promise<Problem | null>;
  onClose: () => void;
}

/** What saving changes, and a note about it. Ctrl-Enter saves. */
export function SaveDialog({ isNew, before, text, errors, onSave, onClose }: Props): ReactNode {
  const [note, setNote] = useState("");
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const id = useId();

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    setBusy(true);
    setRefusal(await onSave(note.trim()));
    setBusy(false);
  }

  return (
    <Dialog wide title={isNew ? "Save as a new pipeline" : "Save a new version"} onClose={onClose}>
      <form onSubmit={(event) => void save(event)}>
        <label htmlFor={id} className="mb-1 block font-medium">
          Note <span className="font-normal text-soft">· optional</span>
        </label>
        <input
          id={id}
          data-autofocus=""
          className="field"
          value={note}
          placeholder="What is this change for?"
          onChange={(event) => setNote(event.target.value)}
          autoComplete="off"
        />
        {before === null ? null : (
          <div className="mt-4">
            <DiffView before={before.text} after={text} names={[before.name, "what you save"]} />
          </div>
        )}
        {errors === 0 ? null : (
          <p className="mt-3 text-dense text-warn">
            Fix {count(errors, "problem")} to save. Until then, the draft is kept in this browser.
          </p>
        )}
        {isNew ? null : (
          <p className="mt-3 text-dense text-soft">Runs in progress keep the version they started with.</p>
        )}
        <Notice problem={refusal} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Keep editing</Button>
          <Button type="submit" kind="primary" disabled={busy || errors > 0}>
            {isNew ? "Save the pipeline" : "Save the version"}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
