import { type ReactNode, useMemo } from "react";
import { useQuery } from "urql";

import { Code } from "../../../components/Code.tsx";
import { PayloadView, Value } from "../../../components/JsonView.tsx";
import { CopyButton } from "../../../components/CopyButton.tsx";
import { problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { useShowMore } from "../../../components/useShowMore.tsx";
import { humanise } from "../../../lib/text/format.ts";
import { escaped } from "../../../lib/text/plain.ts";
import {
  type RunWholeFragment,
  StepDetailDocument,
  type StepDetailQuery,
  type StepRowFragment,
} from "../run.generated.ts";
import { useRefetchContext } from "./useRefetchContext.ts";

/** Fields rendered per batch. */
const FIELDS = 100;

/** The input of a step: for each field the template, its value and its source. */
export function InputTab({ run, step }: { run: RunWholeFragment; step: StepRowFragment }): ReactNode {
  const [{ data, fetching, error, stale }] = useQuery({
    query: StepDetailDocument,
    variables: { id: run.id, key: step.key },
    context: useRefetchContext(step),
  });
  const found = data?.run?.step;
  const names = useMemo(() => namesOf(found), [found]);
  const { shown, more } = useShowMore(names, FIELDS);
  // Of what is known before the answer, the input may be missing.
  if (found === undefined || found === null || (stale && found.input === null))
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const written = found.step !== null && "input" in found.step ? fieldsOf(found.step.input) : null;
  const part = found.input?.text ?? null;
  const resolved = found.input === null || part !== null ? null : fieldsOf(found.input.json);
  const references = found.step?.references ?? [];
  if (references.length === 0 || written === null)
    return <PayloadView payload={found.input} empty="It has not started, so its input is unknown." />;
  return (
    <>
      <div className="flex items-baseline justify-between">
        {part !== null ? <p className="text-soft">The input is too long to show by field.</p> : <span />}
        {resolved === null ? null : <CopyButton text={JSON.stringify(resolved, null, 2)} what="input" />}
      </div>
      <table className="w-full table-fixed border-collapse text-dense max-md:block">
        <thead className="max-md:sr-only">
          <tr className="border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium">
            <th className="w-24">Field</th>
            <th className="w-[40%]">Template</th>
            <th>Value</th>
          </tr>
        </thead>
        <tbody className="max-md:block">
          {shown.map((name) => (
            <tr
              key={name}
              className="border-b border-line align-top max-md:block max-md:py-2 [&>*]:py-1.5 [&>*]:pr-4 max-md:[&>*]:block max-md:[&>*]:py-0.5"
            >
              <th scope="row" className="text-left font-mono font-medium wrap-anywhere">
                {name}
              </th>
              <td className="font-mono text-soft wrap-anywhere">
                {Object.hasOwn(written, name) ? <Written value={written[name]} /> : "added by the run"}
                <Sources run={run} references={references.filter(({ path }) => path[0] === name)} />
              </td>
              <td className="font-mono wrap-anywhere">
                {resolved === null ? (
                  <span className="font-sans text-soft">{found.input === null ? "Unknown" : ""}</span>
                ) : Object.hasOwn(resolved, name) ? (
                  <Value value={resolved[name]} />
                ) : (
                  <span className="font-sans text-soft">Not set</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
      {part !== null ? <Code text={part} label="First part of the input" /> : null}
    </>
  );
}

type Found = NonNullable<NonNullable<StepDetailQuery["run"]>["step"]>;

/** Fields that were written, and those that the run has added. */
function namesOf(found: Found | null | undefined): string[] {
  const written = found?.step != null && "input" in found.step ? fieldsOf(found.step.input) : {};
  return [...new Set([...Object.keys(written), ...Object.keys(fieldsOf(found?.input?.json))])];
}

/** The template of a field; a single reference is omitted, since its source is shown below. */
function Written({ value }: { value: unknown }): ReactNode {
  return typeof value === "string" ? escaped(value) : <Value value={value} />;
}

interface Reference {
  sourceStep: string | null;
  sourcePath: string;
}

function Sources({ run, references }: { run: RunWholeFragment; references: readonly Reference[] }): ReactNode {
  const sources = [...new Set(references.map((reference) => from(run, reference)))];
  return sources.map((text) => (
    <span key={text} className="block font-sans text-meta">
      {text}
    </span>
  ));
}

function from(run: RunWholeFragment, { sourceStep, sourcePath }: Reference): string {
  if (sourceStep === null) {
    const learned = run.fromMemory.some(({ field }) => field.toLowerCase() === sourcePath);
    return `from the run's input ${sourcePath}${learned ? ", which memory filled in ✎" : ""}`;
  }
  const place = run.steps.findIndex((step) => step.key === sourceStep) + 1;
  return `from step ${place}, ${humanise(sourceStep)}`;
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
