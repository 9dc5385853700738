import { useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { MakeCopyDocument } from "./makeCopy.generated.ts";
import { Notice } from "../../components/Notice.tsx";
import { type Problem, problemOf, problemOfCommand } from "../../lib/server/problem.ts";

/** Copies a pipeline and opens the copy in the editor. */
export function MakeCopy({
  pipelineId,
  kind = "plain",
}: {
  pipelineId: string;
  kind?: "plain" | "primary";
}): ReactNode {
  const [{ fetching }, clone] = useMutation(MakeCopyDocument);
  const [problem, setProblem] = useState<Problem | null>(null);
  const navigate = useNavigate();

  async function go(): Promise<void> {
    const { data, error } = await clone({ pipeline: pipelineId });
    const result = data?.clonePipeline;
    if (error !== undefined) setProblem(problemOfCommand(error));
    else if (result?.__typename !== "PipelineSuccess") setProblem(problemOf(result ?? {}));
    else await navigate({ to: "/pipelines/$pipeline/edit", params: { pipeline: result.pipeline.key } });
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
