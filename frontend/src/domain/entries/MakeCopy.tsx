import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { MakeCopyDocument } from "./makeCopy.generated.ts";
import { lost, Notice, type Refusal, refusalOf } from "../../components/Notice.tsx";

/** Copies a pipeline into one of the reader's own and opens it in the editor. */
export function MakeCopy({
  pipelineId,
  kind = "plain",
}: {
  pipelineId: string;
  kind?: "plain" | "primary";
}): ReactNode {
  const [{ fetching }, clone] = useMutation(MakeCopyDocument);
  const [problem, setProblem] = useState<Refusal | null>(null);
  const navigate = useNavigate();

  async function go(): Promise<void> {
    const { data, error } = await clone({ pipeline: pipelineId });
    const told = data?.clonePipeline;
    if (error !== undefined) setProblem(lost(error));
    else if (told?.__typename !== "PipelineSuccess") setProblem(refusalOf(told ?? {}));
    else await navigate({ to: "/pipelines/$pipeline/edit", params: { pipeline: told.pipeline.key } });
  }

  return (
    <>
      <Button kind={kind} disabled={fetching} onClick={() => void go()}>
        Make a copy
      </Button>
      <Notice problem={problem} />
    </>
  );
}
