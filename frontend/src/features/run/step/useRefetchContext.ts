import type { OperationContext } from "@urql/core";
import { useMemo } from "react";

import type { StepRowFragment } from "../run.generated.ts";

/** A context that is new whenever the step has moved on, so that what belongs to it is read again. */
export function useRefetchContext(step: StepRowFragment): Partial<OperationContext> {
  const moved = `${step.state} ${step.attempts.length} ${step.artifacts.length}`;
  return useMemo(() => ({ requestPolicy: "cache-and-network" as const, moved }), [moved]);
}
