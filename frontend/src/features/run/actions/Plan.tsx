import { Link } from "@tanstack/react-router";
import { CircleAlert, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import { PayloadView } from "../../../components/JsonView.tsx";
import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { count, humanise } from "../../../lib/text/format.ts";
import type { PreviewPartsFragment } from "../run.generated.ts";

const SOURCES = {
  DEFINITION: "from the definition",
  STEP_INPUT: "entered here",
  EARLIER_STEP_INPUT: "entered in an earlier resume",
} as const;

/**
 * The plan of a resume or re-run: reused steps, steps to run, external changes, and its issues but those that a form
 * shows at its fields.
 */
export function Plan({
  plan,
  isAtField,
}: {
  plan: PreviewPartsFragment;
  isAtField?: (issue: PreviewPartsFragment["issues"][number]) => boolean;
}): ReactNode {
  const kept = plan.steps.filter((step) => step.action === "REUSE");
  const running = plan.steps.filter((step) => step.action !== "REUSE");
  const entry = running.find((step) => step.action === "RUN");
  const inputs = running.filter(
    (step) => step.inputSource !== null && (step === entry || step.inputSource !== "DEFINITION"),
  );
  const outside = running.filter((step) => step.effects === "EXTERNAL");
  // Shown once for all its steps.
  const issues = plan.issues.filter((issue) => issue.rule !== "may_repeat_effects" && isAtField?.(issue) !== true);
  const twice = plan.steps.filter((step) => step.mayRepeatEffects);
  return (
    <>
      <dl className="grid grid-cols-[8rem_1fr] gap-x-4 gap-y-1.5 [&>dt]:text-soft">
        <dt>Reused</dt>
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
        {inputs.length === 0 ? null : (
          <>
            <dt>Input</dt>
            <dd className="min-w-0">
              {inputs.map((step) => (
                <details key={step.key}>
                  <summary className="w-fit cursor-pointer">
                    {humanise(step.key)}: {step.inputSource === null ? null : SOURCES[step.inputSource]}
                  </summary>
                  <div className="max-h-48 overflow-auto py-1.5">
                    <PayloadView payload={step.input} empty="Known once the steps before it have run." />
                  </div>
                </details>
              ))}
            </dd>
          </>
        )}
        <dt>External changes</dt>
        <dd>{outside.length === 0 ? "none" : names(outside)}</dd>
      </dl>
      {twice.length === 0 && issues.length === 0 ? null : (
        <ul className="mt-4 space-y-2">
          {twice.length === 0 ? null : (
            <Note>{names(twice)} may already have changed an external system. Continuing may repeat that change.</Note>
          )}
          {issues.map(({ rule, path, severity, message, hint }) => (
            <Note key={rule + path.join(".")} bad={severity === "ERROR"}>
              <TextWithCode text={message} />
              {hint === null ? null : (
                <span className="mt-0.5 block text-soft">
                  <TextWithCode text={hint} />{" "}
                  {rule === "profile_changed" ? (
                    <Link to="/settings" hash="agents" className="link underline">
                      See the agents
                    </Link>
                  ) : null}
                </span>
              )}
            </Note>
          ))}
        </ul>
      )}
    </>
  );
}

/** An error or a warning of the plan. */
function Note({ bad = false, children }: { bad?: boolean; children: ReactNode }): ReactNode {
  const Icon = bad ? CircleAlert : TriangleAlert;
  return (
    <li
      className={`flex gap-2.5 rounded-r border-l-2 px-3 py-2 text-dense ${bad ? "border-fail bg-fail-tint" : "border-warn bg-warn-tint"}`}
    >
      <Icon aria-hidden="true" className={`mt-0.5 size-4 shrink-0 ${bad ? "text-fail" : "text-warn"}`} />
      <span className="min-w-0 wrap-anywhere">
        <span className="sr-only">{bad ? "Error: " : "Warning: "}</span>
        {children}
      </span>
    </li>
  );
}

function names(steps: readonly { key: string }[]): string {
  return steps.map((step) => humanise(step.key)).join(", ");
}
