import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { Confirm } from "../../components/Confirm.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { PinArtifactDocument, ReleaseArtifactDocument } from "./artifacts.generated.ts";
import type { Artifact } from "./media.ts";

/** Pins a file, or unpins it so that it is deleted automatically. */
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
        title={
          artifact.pinned
            ? "Remove the pin: the file is then deleted automatically"
            : "Exempt the file from automatic deletion"
        }
        onClick={() => void go()}
      >
        {artifact.pinned ? "Unpin" : "Pin"}
      </Button>
      <Notice problem={problem} />
    </>
  );
}

/** Why a file is quarantined, and the button to release it. */
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
      <p className="font-medium">Quarantined: the file contains a secret, or something that looks like one.</p>
      {warnings.map((warning) => (
        <p key={warning} className="wrap-anywhere">
          <TextWithCode text={warning} />
        </p>
      ))}
      <p className="mb-3">Nobody can open it until a user who may manage the server releases it.</p>
      <Button onClick={() => setAsking(true)}>Release…</Button>
      {asking ? (
        <Confirm
          title={`Release “${artifact.name}”?`}
          word="Release the file"
          keep="Cancel"
          onClose={() => setAsking(false)}
          onConfirm={go}
        >
          <p>Everyone who may see its run can then download it, including the secret.</p>
          <p className="text-soft">
            The audit records the release. If the secret is real, replace it at its service too.
          </p>
        </Confirm>
      ) : null}
    </div>
  );
}
