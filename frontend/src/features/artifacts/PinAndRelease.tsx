import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { Prose } from "../../components/Prose.tsx";
import { PinArtifactDocument, ReleaseArtifactDocument } from "./artifacts.generated.ts";
import type { Artifact } from "./media.ts";

/** Keeps a file for good, or lets it go with its run again. */
export function PinButton({ artifact }: { artifact: Artifact }): ReactNode {
  const [{ fetching }, pin] = useMutation(PinArtifactDocument);
  const [problem, setProblem] = useState<Problem | null>(null);

  async function go(): Promise<void> {
    const answer = await pin({ id: artifact.id, pinned: !artifact.pinned });
    setProblem(outcomeOf(answer.error, answer.data?.pinArtifact, "ArtifactSuccess").refusal);
  }

  if (artifact.status === "QUARANTINED") return null;
  return (
    <>
      <Button
        disabled={fetching}
        aria-pressed={artifact.pinned}
        title={artifact.pinned ? "Let it go with its run" : "Keep it although its run is forgotten"}
        onClick={() => void go()}
      >
        {artifact.pinned ? "Unpin" : "Pin"}
      </Button>
      <Notice problem={problem} />
    </>
  );
}

/** Why a file is held back, and the way to have it all the same. */
export function Release({ artifact }: { artifact: Artifact }): ReactNode {
  const [asking, setAsking] = useState(false);
  const [, release] = useMutation(ReleaseArtifactDocument);
  const warnings = (artifact.producedBy?.runStep.warnings ?? []).filter((warning) => warning.includes(artifact.name));

  async function go(): Promise<Problem | null> {
    const answer = await release({ id: artifact.id });
    return outcomeOf(answer.error, answer.data?.releaseArtifact, "ArtifactSuccess").refusal;
  }

  return (
    <div className="max-w-2xl border-l-2 border-warn bg-warn-tint px-3 py-2">
      <p className="font-medium">It is held back: it holds a secret, or what looks like one.</p>
      {warnings.map((warning) => (
        <p key={warning} className="wrap-anywhere">
          <Prose text={warning} />
        </p>
      ))}
      <p className="mb-3">Nobody can open it until somebody who may manage the server lets it out.</p>
      <Button onClick={() => setAsking(true)}>Let it out…</Button>
      {asking ? (
        <Confirm
          title={`Let “${artifact.name}” out?`}
          word="Let it out"
          keep="Hold it back"
          onClose={() => setAsking(false)}
          onConfirm={go}
        >
          <p>
            From then on it is handed out like any other file, with the secret in it, to everybody who may see its run.
          </p>
          <p className="text-soft">
            That is written to the audit. If the secret is real, replace it at its service as well.
          </p>
        </Confirm>
      ) : null}
    </div>
  );
}
