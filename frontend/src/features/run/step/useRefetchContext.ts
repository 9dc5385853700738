import type { OperationContext } from "@urql/core";
import { useMemo } from "react";

import type { StepRowFragment } from "../run.generated.ts";

/** An operation context that changes whenever the step progresses, so that its queries are read again. */
export function useRefetchContext(step: StepRowFragment): Partial<OperationContext> {
  const moved = `${step.state} ${step.attempts.length} ${step.artifacts.length}`;
  return useMemo(() => ({ requestPolicy: "cache-and-network" as const, moved }), [moved]);
}
