import { Link, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useQuery } from "urql";

import { ButtonLink } from "../../components/Button.tsx";
import { DiffView } from "../../components/DiffView.tsx";
import { Value } from "../../components/JsonView.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { NotFound, Page, Section, LoadingOrProblem } from "../../components/Page.tsx";
import { StateMark } from "../../domain/runs/StateMark.tsx";
import { useShowMore } from "../../components/useShowMore.tsx";
import { duration, humanise, money } from "../../lib/text/format.ts";
import { differences } from "../../lib/json/jsonDiff.ts";
import { CompareDocument, type ComparedRunFragment } from "./compare.generated.ts";
import { Files } from "./Files.tsx";
import { PhoneLabel } from "./PhoneLabel.tsx";
import { filePairs, type Pair, pairs, readable, tookSeconds } from "./pairs.ts";

type Step = ComparedRunFragment["steps"][number];

/** Texts longer than this, or of several lines, are compared line by line. */
const SHORT_TEXT = 120;

const onward = (
  <Link to="/runs" className="link">
    All runs
  </Link>
);

/** Two runs side by side: states, inputs, step durations and outputs. */
export function ComparePage(): ReactNode {
  const { a, b } = useSearch({ from: "/runs/compare" });
  const [{ data, fetching, error }] = useQuery({
    query: CompareDocument,
    variables: { a: a ?? "", b: b ?? "" },
    pause: a === undefined || b === undefined,
  });
  if (a === undefined || b === undefined)
    return (
      <NotFound title="Nothing to compare" onward={onward}>
        Select two runs in the list, then Compare.
      </NotFound>
    );
  if (data === undefined)
    return (
      <LoadingOrProblem
        page="These runs cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  if (data.a === null || data.b === null)
    return (
      <NotFound title="There is no such run" onward={onward}>
        No run {data.a === null ? a : b} exists here, or you may not see it.
      </NotFound>
    );
  return <Both a={data.a} b={data.b} />;
}

function Both({ a, b }: { a: ComparedRunFragment; b: ComparedRunFragment }): ReactNode {
  const steps = pairs(a.steps, b.steps);
  const files = filePairs(steps);
  const same = a.pipeline?.id === b.pipeline?.id && a.pack?.id === b.pack?.id;
  return (
    <Page
      title="Compare two runs"
      lead={
        same
          ? b.rerunOf?.id === a.id
            ? "The second is a re-run of the first."
            : undefined
          : "They belong to different pipelines, so their steps have little in common."
      }
      actions={
        <ButtonLink to="/runs/compare" search={{ a: b.id, b: a.id }}>
          Swap
        </ButtonLink>
      }
    >
      <Heads a={a} b={b} />
      <Section title="Inputs">
        <Differences before={a.inputs} after={b.inputs} same="Their inputs are the same." label="Inputs that differ" />
      </Section>
      <Section title="Steps">
        <Steps a={a} b={b} rows={steps} />
      </Section>
      {files.length === 0 ? null : (
        <Section title="Files">
          <Files pairs={files} />
        </Section>
      )}
      <Section title="Outputs">
        <Outputs a={a} b={b} />
      </Section>
    </Page>
  );
}

const HEAD = "border-b border-line text-left text-meta text-soft [&>th]:py-1.5 [&>th]:pr-4 [&>th]:font-medium";
const ROW = "border-b border-line align-top [&>*]:py-1.5 [&>*]:pr-4";
/** On a phone the cells of a row are one under the other. */
const TABLE =
  "w-full table-fixed border-collapse text-dense max-md:block max-md:[&>tbody]:block max-md:[&>tbody>tr]:block max-md:[&>tbody>tr>*]:block max-md:[&>tbody>tr>*]:pr-0 max-md:[&>thead]:hidden";

function idOf(run: ComparedRunFragment): ReactNode {
  return <span className="font-mono text-dense">{run.id}</span>;
}

function Heads({ a, b }: { a: ComparedRunFragment; b: ComparedRunFragment }): ReactNode {
  const rows: [string, (run: ComparedRunFragment) => ReactNode][] = [
    [
      "Run",
      (run) => (
        <Link key="run" to="/runs/$run" params={{ run: run.id }} className="link font-medium wrap-anywhere">
          {run.title}
        </Link>
      ),
    ],
    // Re-runs and scheduled runs often have the same title.
    ...(a.title === b.title ? [["Id", idOf] as [string, typeof idOf]] : []),
    ["State", (run) => <StateMark key="state" state={run.state} />],
    [
      "Of",
      (run) =>
        `${run.pipeline?.name ?? run.pack?.name ?? "something deleted"}${run.version === null ? "" : `, v${run.version.number}`}`,
    ],
    ["Started", (run) => <Timestamp key="at" at={run.createdAt} seconds />],
    ["By", (run) => run.caller.name],
    ["Duration", (run) => duration(run.workSeconds)],
    [
      "Cost",
      (run) =>
        run.cost.amountUsd === null ? "unknown" : run.cost.amountUsd === 0 ? "nothing" : money(run.cost.amountUsd),
    ],
  ];
  return (
    <table aria-label="The runs" className="mb-8 w-full table-fixed border-collapse">
      <thead>
        <tr className={HEAD}>
          <th className="w-[22%]">
            <span className="sr-only">What</span>
          </th>
          <th>First</th>
          <th>Second</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([word, of]) => (
          <tr key={word} className={ROW}>
            <th scope="row" className="text-left font-normal text-soft">
              {word}
            </th>
            <td className="wrap-anywhere">{of(a)}</td>
            <td className="wrap-anywhere">{of(b)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Steps({
  a,
  b,
  rows,
}: {
  a: ComparedRunFragment;
  b: ComparedRunFragment;
  rows: readonly Pair<Step>[];
}): ReactNode {
  const longest = Math.max(0.001, ...rows.flatMap((row) => [tookSeconds(row.a) ?? 0, tookSeconds(row.b) ?? 0]));
  return (
    <table aria-label="Steps side by side" className={TABLE}>
      <thead>
        <tr className={HEAD}>
          <th className="w-[22%]">Step</th>
          <th>First</th>
          <th>Second</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key} className={ROW}>
            <th scope="row" className="text-left font-medium wrap-anywhere">
              {humanise(row.key)}
              <Versions pair={row} />
            </th>
            <Side of="First" step={row.a} longest={longest} runId={a.id} />
            <Side of="Second" step={row.b} longest={longest} runId={b.id} gap={gapWords(row)} />
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The versions of a step's pack, where they differ. */
function Versions({ pair: { a, b } }: { pair: Pair<Step> }): ReactNode {
  if (a === null || b === null || a.packVersion === null || b.packVersion === null || a.packVersion === b.packVersion)
    return null;
  return (
    <span className="block text-meta font-normal text-soft">
      pack {a.packVersion}, then {b.packVersion}
    </span>
  );
}

interface SideProps {
  of: "First" | "Second";
  step: Step | null;
  longest: number;
  runId: string;
  /** How its duration compares. */
  gap?: string;
}

function Side({ of, step, longest, runId, gap = "" }: SideProps): ReactNode {
  if (step === null)
    return (
      <td className="text-soft">
        <PhoneLabel of={of} />
        has no such step
      </td>
    );
  const took = tookSeconds(step);
  return (
    <td>
      <PhoneLabel of={of} />
      <Link
        to="/runs/$run"
        params={{ run: runId }}
        search={{ step: step.key }}
        className="inline-block w-26 hover:underline"
      >
        <StateMark state={step.state} />
      </Link>
      {took === null ? null : (
        <>
          <span className="inline-block min-w-16 text-soft">{duration(took)}</span>
          <span className="text-soft">{gap}</span>
          <span
            aria-hidden="true"
            className="mt-1 block h-1 rounded-xs bg-accent"
            style={{ width: `${Math.max(1, (took / longest) * 100)}%` }}
          />
        </>
      )}
      {step.failure === null ? null : (
        <span className="mt-1 block text-soft wrap-anywhere">
          <TextWithCode text={step.failure.message} />
        </span>
      )}
    </td>
  );
}

/** How much longer the step took in the second run. */
function gapWords({ a, b }: Pair<Step>): string {
  const [before, after] = [tookSeconds(a), tookSeconds(b)];
  if (before === null || after === null) return "";
  const by = after - before;
  if (Math.abs(by) < 0.05) return "same as the first";
  return `${duration(Math.abs(by))} ${by > 0 ? "longer" : "shorter"} than the first`;
}

function Outputs({ a, b }: { a: ComparedRunFragment; b: ComparedRunFragment }): ReactNode {
  if (a.result === null || b.result === null) {
    const none =
      a.result === null && b.result === null
        ? "Neither has"
        : a.result === null
          ? "The first has not"
          : "The second has not";
    return <p className="text-soft">{none} given anything.</p>;
  }
  if (a.result.text !== null || b.result.text !== null) {
    return (
      <>
        <p className="mb-2 text-soft">They are too long to compare in full; these are the first parts.</p>
        <DiffView
          names={["the first output", "the second output"]}
          before={a.result.text ?? JSON.stringify(a.result.json, null, 2)}
          after={b.result.text ?? JSON.stringify(b.result.json, null, 2)}
          split
        />
      </>
    );
  }
  return <Values a={a} b={b} before={a.result.json} after={b.result.json} />;
}

function Values({
  a,
  b,
  before,
  after,
}: {
  a: ComparedRunFragment;
  b: ComparedRunFragment;
  before: unknown;
  after: unknown;
}): ReactNode {
  const [old, next] = useMemo(
    () => [readable(before, fileNames(a)), readable(after, fileNames(b))],
    [a, b, before, after],
  );
  return <Differences before={old} after={next} same="Their outputs are the same." label="Outputs that differ" />;
}

function fileNames(run: ComparedRunFragment): ReadonlyMap<string, string> {
  return new Map(run.steps.flatMap(({ artifacts }) => artifacts.map(({ id, name }) => [id, name] as const)));
}

/** Differences rendered per batch. */
const DIFFERENCES = 100;

function Differences({
  before,
  after,
  same,
  label,
}: {
  before: unknown;
  after: unknown;
  same: string;
  label: string;
}): ReactNode {
  const found = useMemo(() => differences(before, after), [before, after]);
  const { shown, more } = useShowMore(found, DIFFERENCES);
  if (found.length === 0) return <p className="text-soft">{same}</p>;
  return (
    <>
      <table aria-label={label} className={TABLE}>
        <thead>
          <tr className={HEAD}>
            <th className="w-[22%]">Field</th>
            <th>First</th>
            <th>Second</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((difference) => {
            const { path, before: old, after: next } = difference;
            return (
              <tr key={path} className={`${ROW} font-mono`}>
                <th scope="row" className="text-left font-medium wrap-anywhere">
                  {nameOf(path)}
                </th>
                {isLong(old) && isLong(next) ? (
                  <td colSpan={2}>
                    <DiffView
                      names={[`${nameOf(path)} of the first run`, `${nameOf(path)} of the second run`]}
                      before={old}
                      after={next}
                      split
                    />
                  </td>
                ) : (
                  <>
                    <td className="wrap-anywhere">
                      <PhoneLabel of="First" />
                      {"before" in difference ? <Value value={old} /> : <Nothing />}
                    </td>
                    <td className="wrap-anywhere">
                      <PhoneLabel of="Second" />
                      {"after" in difference ? <Value value={next} /> : <Nothing />}
                    </td>
                  </>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {more}
    </>
  );
}

function Nothing(): ReactNode {
  return <span className="font-sans text-soft">not given</span>;
}

function isLong(value: unknown): value is string {
  return typeof value === "string" && (value.length > SHORT_TEXT || value.includes("\n"));
}

function nameOf(path: string): string {
  return path === "" ? "Whole value" : path;
}
