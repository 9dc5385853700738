import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { CopyButton } from "../../components/CopyButton.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { ImportPipelinesDocument, type ImportPipelinesMutation } from "./pipelines.generated.ts";

type Change = Extract<
  ImportPipelinesMutation["applyPipelines"],
  { __typename: "ApplyPipelinesSuccess" }
>["changes"][number];

const ACTIONS: Record<Change["action"], string> = {
  CREATE: "is new",
  UPDATE: "gets a new version",
  KEEP: "stays as it is",
};

const TRIGGER_ACTIONS: Record<Change["triggers"][number]["action"], string> = {
  CREATE: "is new",
  UPDATE: "changes",
  KEEP: "stays as it is",
  DELETE: "is deleted, because the list does not name it",
};

/** Pipelines from YAML, pasted or from a file: first what it would change, then the change. */
export function ImportDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [yaml, setYaml] = useState("");
  const [planned, setPlanned] = useState<readonly Change[] | null>(null);
  const [done, setDone] = useState<readonly Change[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, apply] = useMutation(ImportPipelinesDocument);
  const navigate = useNavigate();
  const id = useId();

  function change(text: string): void {
    setYaml(text);
    setPlanned(null);
    setProblem(null);
  }

  async function go(dryRun: boolean): Promise<void> {
    const { data, error } = await apply({ yaml, dryRun });
    const result = data?.applyPipelines;
    if (error !== undefined) setProblem(problemOfCommand(error));
    else if (result?.__typename !== "ApplyPipelinesSuccess") setProblem(problemOf(result ?? {}));
    else if (dryRun) {
      setProblem(null);
      setPlanned(result.changes);
    } else if (result.changes.some(({ triggers }) => triggers.some(({ secret }) => secret !== null))) {
      setDone(result.changes);
    } else await leave(result.changes);
  }

  async function leave(changes: readonly Change[]): Promise<void> {
    const [only] = changes;
    if (changes.length === 1 && only !== undefined)
      await navigate({ to: "/pipelines/$pipeline", params: { pipeline: only.key } });
    else {
      await navigate({ to: "/pipelines", search: { source: "own" } });
      onClose();
    }
  }

  const doing = planned?.filter(({ action }) => action !== "KEEP").length ?? 0;
  const turning = planned?.flatMap(({ triggers }) => triggers).filter(({ action }) => action !== "KEEP").length ?? 0;
  if (done !== null)
    return (
      <Dialog title="Secrets of the new webhooks" onClose={() => void leave(done)} wide>
        <p className="mb-3">
          They are not shown again. Give each to its sender now; the page of the webhook has its URL.
        </p>
        <ul className="space-y-2">
          {done
            .flatMap(({ triggers }) => triggers)
            .map(({ triggerId, name, secret }) =>
              secret === null ? null : (
                <li key={triggerId}>
                  <span className="font-medium">{name}</span>{" "}
                  <code className="font-mono text-dense wrap-anywhere">{secret}</code>{" "}
                  <CopyButton text={secret} what={`secret of ${name}`} />
                </li>
              ),
            )}
        </ul>
        <div className="mt-5 flex justify-end">
          <Button kind="primary" onClick={() => void leave(done)}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  return (
    <Dialog title="Import pipelines" onClose={onClose} wide>
      <label htmlFor={id} className="mb-1 block font-medium">
        YAML, as <code className="font-mono text-dense">packline export</code> writes it
      </label>
      <textarea
        id={id}
        data-autofocus=""
        className="field font-mono !text-dense"
        rows={planned === null ? 12 : 5}
        spellCheck={false}
        value={yaml}
        onChange={(event) => change(event.target.value)}
      />
      <label className="mt-2 block w-fit text-dense">
        <span className="mr-2">Or a file</span>
        <input
          type="file"
          accept=".yaml,.yml,application/yaml,text/yaml,text/plain"
          className="text-dense file:mr-2 file:cursor-pointer file:rounded file:border file:border-solid file:border-control file:bg-page file:px-2.5 file:py-1 file:font-medium file:text-ink"
          onChange={(event) => {
            const [file] = event.target.files ?? [];
            if (file !== undefined) void file.text().then(change);
          }}
        />
      </label>
      {planned === null ? null : (
        <section aria-label="Changes" className="mt-4 space-y-4" role="status">
          {planned.map((one) => (
            <Planned key={one.key} change={one} />
          ))}
        </section>
      )}
      <Notice problem={problem} />
      <div className="mt-5 flex justify-end gap-2">
        <Button onClick={onClose}>Close</Button>
        {planned === null ? (
          <Button kind="primary" disabled={fetching || yaml.trim() === ""} onClick={() => void go(true)}>
            Preview changes
          </Button>
        ) : (
          <Button kind="primary" disabled={fetching || doing + turning === 0} onClick={() => void go(false)}>
            {saveWords(doing, turning)}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

function saveWords(pipelines: number, triggers: number): string {
  if (pipelines === 0) return triggers === 0 ? "Nothing to save" : "Save the triggers";
  return pipelines === 1 ? "Save the pipeline" : `Save ${pipelines} pipelines`;
}

function Planned({ change }: { change: Change }): ReactNode {
  return (
    <div>
      <p className="mb-1">
        <span className="font-mono text-dense font-medium">{change.key}</span> {ACTIONS[change.action]}.
      </p>
      {change.warnings.map(({ message, hint }) => (
        <p key={message} className="mb-1 text-dense text-warn">
          <TextWithCode text={`${message} ${hint ?? ""}`} />
        </p>
      ))}
      {change.triggers.map(({ name, action }) =>
        action === "KEEP" ? null : (
          <p key={name} className="mb-1 text-dense">
            The trigger <span className="font-medium">{name}</span> {TRIGGER_ACTIONS[action]}.
          </p>
        ),
      )}
      {change.action !== "CREATE" && change.diff !== "" ? (
        <Patch text={change.diff} label={`What changes in ${change.key}`} />
      ) : null}
    </div>
  );
}

const TINT: Record<string, string> = { "+": "bg-ok-tint", "-": "bg-fail-tint", "@": "text-soft bg-panel" };

/** A unified diff as the server gives it. */
function Patch({ text, label }: { text: string; label: string }): ReactNode {
  const lines = text.split("\n").filter((line) => !line.startsWith("---") && !line.startsWith("+++"));
  return (
    <pre
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- long lines scroll
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-64 overflow-auto rounded border border-line py-1 font-mono text-meta"
    >
      {lines.map((line, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no other name than their place
        <span key={index} className={`block px-2 whitespace-pre-wrap ${TINT[line[0] ?? ""] ?? ""}`}>
          {line === "" ? " " : line}
        </span>
      ))}
    </pre>
  );
}
