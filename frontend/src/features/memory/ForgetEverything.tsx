import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { count } from "../../lib/text/format.ts";

interface Props {
  rows: number;
  whose: string;
  onClose: () => void;
  onForget: () => void;
}

/** Asks for the number of rows before deleting all of them. */
export function ForgetEverything({ rows, whose, onClose, onForget }: Props): ReactNode {
  const [typed, setTyped] = useState("");
  return (
    <Dialog title="Forget everything?" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (typed.trim() === String(rows)) onForget();
        }}
      >
        <p className="mb-2">
          This deletes all {count(rows, "row")} {whose} and the choices learned from them. Runs, artifacts, caches,
          credentials, and pinned or excluded values stay.
        </p>
        <label className="block">
          Type {rows} to confirm
          <input
            className="field mt-1"
            inputMode="numeric"
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            data-autofocus=""
          />
        </label>
        <div className="mt-5 flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" disabled={typed.trim() !== String(rows)}>
            Forget everything
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
