import type { ReactNode } from "react";

import { count, humanise } from "../../lib/format.ts";
import type { PreviewPartsFragment } from "./run.generated.ts";

/** What would happen: what is kept, what runs, what it may do outside a second time. */
export function Plan({ plan }: { plan: PreviewPartsFragment }): ReactNode {
  const kept = plan.steps.filter((step) => step.action === "REUSE");
  const running = plan.steps.filter((step) => step.action !== "REUSE");
  const outside = running.filter((step) => step.effects === "EXTERNAL");
  const twice = plan.steps.filter((step) => step.mayRepeatEffects);
  return (
    <>
      <dl className="grid grid-cols-[8rem_1fr] gap-x-4 gap-y-1.5 [&>dt]:text-soft">
        <dt>Kept</dt>
        <dd>{kept.length === 0 ? "nothing" : `${count(kept.length, "step")}: ${names(kept)}`}</dd>
        <dt>Will run</dt>
        <dd>
          {count(running.length, "step")}: {names(running)}
          {running
            .filter((step) => step.action === "RUN_AGAIN")
            .map((step) => (
              <span key={step.key} className="block text-soft">
                {humanise(step.key)} runs again: {step.reason}
              </span>
            ))}
        </dd>
        <dt>Outside effects</dt>
        <dd>{outside.length === 0 ? "none" : names(outside)}</dd>
      </dl>
      {twice.length === 0 ? null : (
        <p className="mt-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2">
          {names(twice)} may already have done its work outside; going on may do it a second time.
        </p>
      )}
      {plan.issues.length === 0 ? null : (
        <ul className="mt-3 space-y-1">
          {plan.issues.map((issue) => (
            <li key={issue.rule + issue.path.join(".")} className={`border-l-2 px-3 py-1 wrap-anywhere ${issue.severity === "ERROR" ? "border-fail bg-fail-tint" : "border-warn bg-warn-tint"}`}>
              {issue.message} {issue.hint}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function names(steps: readonly { key: string }[]): string {
  return steps.map((step) => humanise(step.key)).join(", ");
}
