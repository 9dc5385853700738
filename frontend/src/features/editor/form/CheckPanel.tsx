import { Circle, CircleAlert, CircleCheck, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";

import { TextWithCode } from "../../../components/TextWithCode.tsx";
import { count, humanise } from "../../../lib/text/format.ts";
import type { StepEntry } from "../definition/definition.ts";
import type { Checked, Issue } from "../definition/useCheck.ts";

interface Props {
  checked: Checked;
  /** The pipeline is new and untouched: errors are shown without alarm. */
  quiet: boolean;
  steps: readonly StepEntry[];
  onGo: (issue: Issue) => void;
}

/** The issues of the current definition; each links to its place. */
export function CheckPanel({ checked, quiet, steps, onGo }: Props): ReactNode {
  const { check, fresh, problem } = checked;
  const issues = check?.issues ?? [];
  const errors = issues.filter(({ severity }) => severity === "ERROR");
  const warnings = issues.filter(({ severity }) => severity !== "ERROR");
  // That a pack is missing is an issue already.
  const missing = check?.preflight.missing.filter(({ kind }) => kind !== "PACK") ?? [];
  return (
    <section aria-label="Check" aria-busy={!fresh}>
      <h2 className="mb-2">
        Check
        {fresh ? null : (
          <span aria-hidden="true" className="ml-2 text-meta font-normal text-soft">
            Checking…
          </span>
        )}
      </h2>
      <div role="status">
        {problem === null ? null : <p className="text-dense text-warn">It could not be checked: {problem}</p>}
        {check === null ? null : errors.length > 0 && quiet ? (
          <p className="text-dense text-soft">Needed before you can save:</p>
        ) : errors.length > 0 ? (
          <p className="flex gap-2 text-dense font-medium text-fail">
            <CircleAlert aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
            Fix {count(errors.length, "problem")} to save
          </p>
        ) : (
          <p className="flex gap-2 text-dense font-medium text-ok">
            <CircleCheck aria-hidden="true" className="mt-0.5 size-4 shrink-0" />
            {warnings.length === 0 ? "No problems." : `Ready to save, with ${count(warnings.length, "warning")}:`}
          </p>
        )}
      </div>
      <ul className="mt-2 space-y-1">
        {[...errors, ...warnings].map((issue) => (
          <Row
            key={`${issue.path.join("/")} ${issue.rule} ${issue.message}`}
            issue={issue}
            quiet={quiet}
            steps={steps}
            onGo={onGo}
          />
        ))}
      </ul>
      {missing.length === 0 ? null : (
        <div className="mt-4 border-t border-line pt-3">
          <h3>Cannot run here yet</h3>
          <ul className="mt-1 space-y-2 text-dense">
            {missing.map(({ kind, name, message, hint }) => (
              <li key={kind + name} className="wrap-anywhere text-soft">
                <TextWithCode text={`${message} ${hint ?? ""}`} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </section>
  );
}

function Row({
  issue,
  quiet,
  steps,
  onGo,
}: {
  issue: Issue;
  quiet: boolean;
  steps: readonly StepEntry[];
  onGo: (issue: Issue) => void;
}): ReactNode {
  const bad = issue.severity === "ERROR";
  const Icon = quiet ? Circle : bad ? CircleAlert : TriangleAlert;
  return (
    <li>
      <button
        type="button"
        className="-mx-1.5 flex w-[calc(100%+0.75rem)] gap-2 rounded px-1.5 py-1.5 text-left text-dense hover:bg-hover"
        onClick={() => onGo(issue)}
      >
        <Icon
          aria-hidden="true"
          className={`mt-0.5 size-4 shrink-0 ${quiet ? "text-soft" : bad ? "text-fail" : "text-warn"}`}
        />
        <span className="min-w-0 wrap-anywhere">
          <span className="block text-meta text-soft">
            {quiet ? null : <span className="sr-only">{bad ? "Error: " : "Warning: "}</span>}
            {issue.line === null ? placeOf(issue.path, steps) : `Line ${issue.line}`}
            {quiet ? null : (
              <>
                {" · "}
                <span className="font-mono">{issue.rule}</span>
              </>
            )}
          </span>
          <TextWithCode text={issue.message} />
          {issue.hint === null ? null : (
            <span className="block text-soft">
              <TextWithCode text={issue.hint} />
            </span>
          )}
        </span>
      </button>
    </li>
  );
}

/** `steps/1/input/text` → `Step 2, Outline: text`. */
export function placeOf(path: readonly string[], steps: readonly StepEntry[]): string {
  const [root, index, ...rest] = path;
  if (root === undefined) return "The document";
  if (root !== "steps" || index === undefined) return path.map((part) => part.replaceAll("_", " ")).join(" › ");
  const id = steps[Number(index)]?.id ?? "";
  const name = `Step ${Number(index) + 1}${id === "" ? "" : `, ${humanise(id)}`}`;
  const inner = rest[0] === "input" ? rest.slice(1) : rest;
  return inner.length === 0 ? name : `${name}: ${inner.join(" › ")}`;
}
