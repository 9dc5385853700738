import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useId, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand } from "../../lib/server/problem.ts";
import { DeletePipelineDocument } from "./pipelines.generated.ts";

/** Deleting takes the key once more, since it cannot be undone. */
export function DeleteDialog({
  pipeline,
  onClose,
}: {
  pipeline: { id: string; key: string; name: string };
  onClose: () => void;
}): ReactNode {
  const [typed, setTyped] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, remove] = useMutation(DeletePipelineDocument);
  const navigate = useNavigate();
  const id = useId();

  async function go(event: FormEvent): Promise<void> {
    event.preventDefault();
    const { data, error } = await remove({ pipeline: pipeline.id, confirmKey: typed });
    const result = data?.deletePipeline;
    if (error !== undefined) setProblem(problemOfCommand(error));
    else if (result?.__typename === "DeleteSuccess") await navigate({ to: "/pipelines" });
    else setProblem(problemOf(result ?? {}));
  }

  return (
    <Dialog title={`Delete ${pipeline.name}?`} onClose={onClose}>
      <form onSubmit={(event) => void go(event)}>
        <p className="mb-3">
          Nobody can start it any more. Runs in progress finish. Its runs and their files stay, and you can still resume
          them or run them again.
        </p>
        <label htmlFor={id} className="mb-1 block font-medium">
          Type its key, <span className="font-mono text-dense">{pipeline.key}</span>, to delete it
        </label>
        <input
          id={id}
          data-autofocus=""
          className="field font-mono !text-dense"
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <Notice problem={problem} />
        <div className="mt-5 flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="danger" disabled={fetching || typed !== pipeline.key}>
            Delete the pipeline
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
