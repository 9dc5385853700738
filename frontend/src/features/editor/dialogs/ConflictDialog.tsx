import { type ReactNode, useState } from "react";

import { Button } from "../../../components/Button.tsx";
import { Dialog } from "../../../components/Dialog.tsx";
import { DiffView } from "../../../components/DiffView.tsx";
import { Notice } from "../../../components/Notice.tsx";
import type { Problem } from "../../../lib/server/problem.ts";

interface Props {
  mine: string;
  theirs: { number: number; yaml: string; by: string | null };
  basedOn: number;
  onSaveOnTop: () => Promise<Problem | null>;
  onReload: () => void;
  onClose: () => void;
}

/** Another user saved in the meantime: shows the differences and asks which text to keep. */
export function ConflictDialog({ mine, theirs, basedOn, onSaveOnTop, onReload, onClose }: Props): ReactNode {
  const [busy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  return (
    <Dialog wide title={`Version ${theirs.number} was saved in the meantime`} onClose={onClose}>
      <p className="mb-3">
        You started from version {basedOn}
        {theirs.by === null ? "" : `; ${theirs.by} has saved version ${theirs.number}`}. Your changes are kept. The
        comparison shows what saving them on top would change.
      </p>
      <DiffView before={theirs.yaml} after={mine} names={[`version ${theirs.number}`, "yours"]} />
      <Notice problem={refusal} />
      <div className="mt-5 flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Keep editing</Button>
        <Button onClick={onReload}>Take version {theirs.number} instead</Button>
        <Button
          kind="primary"
          disabled={busy}
          onClick={() => {
            setBusy(true);
            void onSaveOnTop().then((refused) => {
              setRefusal(refused);
              setBusy(false);
            });
          }}
        >
          Save mine on top
        </Button>
      </div>
    </Dialog>
  );
}
