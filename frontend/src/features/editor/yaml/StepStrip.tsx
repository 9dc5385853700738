import { Plus } from "lucide-react";
import type { ReactNode } from "react";

import { Button } from "../../../components/Button.tsx";
import { humanise } from "../../../lib/text/format.ts";
import type { StepEntry } from "../definition/definition.ts";
import { issuesAt, type Issue } from "../definition/useCheck.ts";
import type { At } from "../form/StepList.tsx";

interface Props {
  steps: readonly StepEntry[];
  at: At;
  issues: readonly Issue[];
  /** The steps are those of an earlier text, since the present one cannot be read. */
  stale: boolean;
  readOnly: boolean;
  onSelect: (at: At) => void;
  onAdd: () => void;
}

const CHIP =
  "flex max-w-56 shrink-0 items-center gap-1.5 rounded border px-2 py-1 text-left text-dense hover:bg-hover pointer-coarse:min-h-11";

/** The parts of the pipeline in a row above its text; each leads to its place. */
export function StepStrip({ steps, at, issues, stale, readOnly, onSelect, onAdd }: Props): ReactNode {
  const general = issues.filter(({ path, severity }) => path[0] !== "steps" && severity === "ERROR").length;
  return (
    <nav aria-label="Parts of the pipeline" className="mb-2">
      <ol className="flex max-h-28 flex-wrap gap-1.5 overflow-y-auto p-0.5">
        <li>
          <Chip current={at === "pipeline"} errors={stale ? 0 : general} onClick={() => onSelect("pipeline")}>
            Name, inputs, metadata
          </Chip>
        </li>
        {steps.map((step, index) => (
          // A step has no other name than its place: ids may be missing or repeat.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={`${index} ${step.id}`}>
            <Chip
              current={at === index}
              errors={issuesAt(issues, ["steps", index]).filter(({ severity }) => severity === "ERROR").length}
              onClick={() => onSelect(index)}
            >
              <span className="text-soft">{index + 1}</span> {humanise(step.id === "" ? "step" : step.id)}
            </Chip>
          </li>
        ))}
        {readOnly || stale ? null : (
          <li>
            <Button kind="quiet" onClick={onAdd}>
              <Plus aria-hidden="true" className="size-4" />
              Add a step
            </Button>
          </li>
        )}
      </ol>
      {stale ? <p className="mt-1 text-meta text-soft">Showing the steps of the last readable YAML.</p> : null}
    </nav>
  );
}

function Chip({
  current,
  errors,
  onClick,
  children,
}: {
  current: boolean;
  errors: number;
  onClick: () => void;
  children: ReactNode;
}): ReactNode {
  return (
    <button
      type="button"
      aria-current={current ? "true" : undefined}
      className={`${CHIP} ${current ? "border-accent bg-accent-tint font-medium text-accent" : "border-line"}`}
      onClick={onClick}
    >
      <span className="min-w-0 truncate">{children}</span>
      {errors === 0 ? null : (
        <span className="shrink-0 rounded bg-fail-tint px-1.5 text-meta font-medium text-fail">
          {errors}
          <span className="sr-only"> {errors === 1 ? "error" : "errors"}</span>
        </span>
      )}
    </button>
  );
}
