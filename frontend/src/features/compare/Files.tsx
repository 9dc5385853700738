import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { useQuery } from "urql";

import { CsvTable, drawnRows } from "../../components/CsvTable.tsx";
import { DiffView } from "../../components/DiffView.tsx";
import { LoadingOrProblem } from "../../components/Page.tsx";
import { useShowMore } from "../../components/useShowMore.tsx";
import { isText, sortOf } from "../../domain/files/mediaTypes.ts";
import { problemOfError } from "../../lib/server/problem.ts";
import { csvRows } from "../../lib/text/csv.ts";
import { bytes } from "../../lib/text/format.ts";
import { type ComparedFileFragment, ComparedPicturesDocument, ComparedTextsDocument } from "./compare.generated.ts";
import type { FilePair } from "./pairs.ts";

/** Pairs drawn per batch. */
const PAIRS = 10;
/** Of each text, this much is compared. */
const LIMIT_BYTES = 200_000;

interface Two {
  a: ComparedFileFragment;
  b: ComparedFileFragment;
}

/** The files of two runs side by side, as texts, tables or pictures. */
export function Files({ pairs }: { pairs: readonly FilePair<ComparedFileFragment>[] }): ReactNode {
  const { shown, more } = useShowMore(pairs, PAIRS);
  return (
    <>
      {shown.map(({ key, a, b }) => (
        <div key={key} className="mb-6">
          <h3 className="mb-2 grid grid-cols-2 gap-4">
            <Name file={a} />
            <Name file={b} />
          </h3>
          {a === null || b === null ? null : <Contents a={a} b={b} />}
        </div>
      ))}
      {more}
    </>
  );
}

function Name({ file }: { file: ComparedFileFragment | null }): ReactNode {
  if (file === null) return <span className="font-normal text-soft">no such file</span>;
  return (
    <span className="min-w-0">
      <Link to="/artifacts/$artifact" params={{ artifact: file.id }} className="link wrap-anywhere">
        {file.name}
      </Link>{" "}
      <span className="text-meta font-normal text-soft">{bytes(file.sizeBytes)}</span>
    </span>
  );
}

function Contents({ a, b }: Two): ReactNode {
  if (a.digest === b.digest) return <p className="text-soft">Both runs made the same file.</p>;
  if (isText(a.mediaType) && isText(b.mediaType)) return <Texts a={a} b={b} />;
  return <Pictures a={a} b={b} />;
}

function Texts({ a, b }: Two): ReactNode {
  const [{ data, fetching, error }] = useQuery({
    query: ComparedTextsDocument,
    variables: { a: a.id, b: b.id, limitBytes: LIMIT_BYTES },
  });
  if (data === undefined)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const [before, after] = [data.a?.text ?? null, data.b?.text ?? null];
  if (before === null || after === null) return <p className="text-soft">Their contents cannot be read as text.</p>;
  const areCut = [data.a?.nextOffset !== null, data.b?.nextOffset !== null] as const;
  const areTables = [a, b].every(({ mediaType }) => sortOf(mediaType) === "table");
  const read = { a, b, before, after, areCut };
  return (
    <>
      {areCut.includes(true) ? (
        <p className="mb-2 text-soft">Only the first {bytes(LIMIT_BYTES)} of each are compared.</p>
      ) : null}
      {areTables ? <Tables {...read} /> : <Diff {...read} />}
    </>
  );
}

interface Read extends Two {
  before: string;
  after: string;
  areCut: readonly [boolean, boolean];
}

function Diff({ a, b, before, after }: Read): ReactNode {
  return <DiffView before={before} after={after} names={names(a, b)} split />;
}

function names(a: ComparedFileFragment, b: ComparedFileFragment): readonly [string, string] {
  return [`${a.name} of the first run`, `${b.name} of the second run`];
}

function Tables(read: Read): ReactNode {
  const { a, b, before, after } = read;
  const [isOldCut, isNextCut] = read.areCut;
  const old = useMemo(() => drawnRows(csvRows(before), isOldCut), [before, isOldCut]);
  const next = useMemo(() => drawnRows(csvRows(after), isNextCut), [after, isNextCut]);
  if (old === null || next === null) return <Diff {...read} />;
  const [first, second] = names(a, b);
  return (
    <div className="grid grid-cols-2 gap-4">
      <CsvTable name={first} rows={old} beside={{ other: next, tint: "bg-fail-tint" }} />
      <CsvTable name={second} rows={next} beside={{ other: old, tint: "bg-ok-tint" }} />
    </div>
  );
}

function Pictures({ a, b }: Two): ReactNode {
  const [{ data, fetching, error }] = useQuery({
    query: ComparedPicturesDocument,
    variables: { a: a.id, b: b.id },
    requestPolicy: "network-only",
  });
  if (data === undefined)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const [first, second] = names(a, b);
  return (
    <div className="grid grid-cols-2 gap-4">
      <Picture node={data.a} label={first} />
      <Picture node={data.b} label={second} />
    </div>
  );
}

function Picture({ node, label }: { node: object | null; label: string }): ReactNode {
  const url = node !== null && "previewUrl" in node && typeof node.previewUrl === "string" ? node.previewUrl : null;
  if (url === null) return <p className="text-soft">No preview.</p>;
  return (
    <img
      src={url}
      alt={`What ${label} looks like`}
      className="max-h-[60vh] w-full rounded border border-line bg-panel object-contain"
    />
  );
}
