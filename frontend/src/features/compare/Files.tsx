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
import { PhoneLabel } from "./PhoneLabel.tsx";

/** Pairs drawn per batch. */
const PAIRS = 10;
/** Of each text, this much is compared. */
const LIMIT_BYTES = 200_000;

/** What belongs to the first run and to the second: side by side, on a phone one under the other. */
const SIDES = "grid grid-cols-2 gap-4 max-md:grid-cols-1";

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
          <h3 className={`mb-2 ${SIDES} max-md:gap-y-1`}>
            <Name of="First" file={a} />
            <Name of="Second" file={b} />
          </h3>
          {a === null || b === null ? null : <Contents a={a} b={b} />}
        </div>
      ))}
      {more}
    </>
  );
}

function Name({ of, file }: { of: "First" | "Second"; file: ComparedFileFragment | null }): ReactNode {
  return (
    <span className="flex min-w-0 items-baseline gap-2">
      <PhoneLabel of={of} />
      {file === null ? (
        <span className="font-normal text-soft">no such file</span>
      ) : (
        <span className="min-w-0">
          <Link to="/artifacts/$artifact" params={{ artifact: file.id }} className="link wrap-anywhere">
            {file.name}
          </Link>{" "}
          <span className="text-meta font-normal text-soft">{bytes(file.sizeBytes)}</span>
        </span>
      )}
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
    <div className={SIDES}>
      <div className="min-w-0">
        <PhoneLabel of="First" />
        <CsvTable name={first} rows={old} beside={{ other: next, tint: "bg-fail-tint" }} />
      </div>
      <div className="min-w-0">
        <PhoneLabel of="Second" />
        <CsvTable name={second} rows={next} beside={{ other: old, tint: "bg-ok-tint" }} />
      </div>
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
    <div className={SIDES}>
      <Picture of="First" node={data.a} label={first} />
      <Picture of="Second" node={data.b} label={second} />
    </div>
  );
}

function Picture({ of, node, label }: { of: "First" | "Second"; node: object | null; label: string }): ReactNode {
  const url = node !== null && "previewUrl" in node && typeof node.previewUrl === "string" ? node.previewUrl : null;
  return (
    <div>
      <PhoneLabel of={of} />
      {url === null ? (
        <p className="text-soft">No preview.</p>
      ) : (
        <img
          src={url}
          alt={`What ${label} looks like`}
          className="max-h-[60vh] w-full rounded border border-line bg-panel object-contain"
        />
      )}
    </div>
  );
}
