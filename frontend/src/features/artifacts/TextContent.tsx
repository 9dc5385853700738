import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useMemo } from "react";
import { useQuery } from "urql";

import { Code } from "../../components/Code.tsx";
import { CsvTable, drawnRows, MOST_COLUMNS } from "../../components/CsvTable.tsx";
import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { JsonView } from "../../components/JsonView.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../components/Page.tsx";
import { LazyFallback } from "../../components/LazyFallback.tsx";
import { useShowMore } from "../../components/useShowMore.tsx";
import { bytes } from "../../lib/text/format.ts";
import type { Shown } from "../../domain/files/mediaTypes.ts";
import { csvRows } from "../../lib/text/csv.ts";
import { readJson } from "../../lib/json/untrusted.ts";
import { lazyComponent } from "../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../lib/server/lazyLoad.ts";
import { escaped } from "../../lib/text/plain.ts";
import { ArtifactTextDocument } from "./artifacts.generated.ts";

/** Bytes shown; the rest can be downloaded. */
const LIMIT_BYTES = 200_000;

const loadMarkdown = lazyLoad(() => import("./Markdown.tsx"));
const Markdown = lazyComponent(loadMarkdown, "Markdown");

interface Props {
  artifact: { id: string; name: string; sizeBytes?: number; downloadUrl?: string | null };
  shown: Extract<Shown, "markdown" | "html" | "json" | "diff" | "table" | "text">;
  source: boolean;
}

/** A rendered text, or its source. */
export function TextContent({ artifact, shown, source }: Props): ReactNode {
  const [{ data, fetching, error }] = useQuery({
    query: ArtifactTextDocument,
    variables: { id: artifact.id, limitBytes: LIMIT_BYTES },
  });
  if (data === undefined)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const found = data.artifactText;
  if (found === null || found.text === null)
    return <p className="text-soft">Its media type is text, but its content is not. Download it to look inside.</p>;
  const cut = found.nextOffset !== null;
  const two =
    shown === "markdown" || shown === "html" || shown === "diff" || shown === "table" || (shown === "json" && !cut);
  return (
    <>
      {two ? <Ways id={artifact.id} source={source} /> : null}
      {cut && artifact.sizeBytes !== undefined ? (
        <p className="mb-2 text-soft">
          The first {bytes(LIMIT_BYTES)} of {bytes(artifact.sizeBytes)}. Download it for the rest.
        </p>
      ) : null}
      {source || !two ? (
        <Source text={found.text} name={artifact.name} />
      ) : (
        <ContentBoundary what={artifact.name} of={[found.text, shown]} source={() => found.text}>
          <Read text={found.text} artifact={artifact} shown={shown} isCut={cut} />
        </ContentBoundary>
      )}
    </>
  );
}

function look(here: boolean): string {
  return `rounded border px-2.5 py-1 text-dense hover:bg-hover ${here ? "border-accent font-medium text-accent" : "border-line text-soft"}`;
}

function Ways({ id, source }: { id: string; source: boolean }): ReactNode {
  return (
    <nav aria-label="View" className="mb-3 flex gap-1">
      <Link
        to="/artifacts/$artifact"
        params={{ artifact: id }}
        search={{}}
        replace
        className={look(!source)}
        aria-current={source ? undefined : "page"}
      >
        Preview
      </Link>
      <Link
        to="/artifacts/$artifact"
        params={{ artifact: id }}
        search={{ view: "source" }}
        replace
        className={look(source)}
        aria-current={source ? "page" : undefined}
      >
        Source
      </Link>
    </nav>
  );
}

function Source({ text, name }: { text: string; name: string }): ReactNode {
  return (
    <div className="[&>pre]:max-h-[75vh]">
      <Code text={text} label={name} />
    </div>
  );
}

function Read({ text, artifact, shown, isCut }: Omit<Props, "source"> & { text: string; isCut: boolean }): ReactNode {
  if (shown === "json") return <Json text={text} name={artifact.name} />;
  if (shown === "table") return <Csv text={text} name={artifact.name} isCut={isCut} />;
  if (shown === "diff") return <Diff text={text} name={artifact.name} />;
  if (shown === "html" && typeof artifact.downloadUrl === "string") {
    // Both this attribute and the policy of the response restrict the file.
    return (
      <iframe
        src={`${artifact.downloadUrl}&frame`}
        sandbox=""
        title={artifact.name}
        className="h-[75vh] w-full rounded border border-line bg-white"
      />
    );
  }
  return (
    <Suspense fallback={<LazyFallback />}>
      <Markdown text={text} name={artifact.name} />
    </Suspense>
  );
}

function Csv({ text, name, isCut }: { text: string; name: string; isCut: boolean }): ReactNode {
  const read = useMemo(() => csvRows(text), [text]);
  const rows = drawnRows(read, isCut);
  if (rows !== null) return <CsvTable rows={rows} name={name} />;
  const open = isCut ? "The part that is shown ends within quotation marks" : "A quotation mark is never closed";
  const why = read === null ? open : `A row has more than ${MOST_COLUMNS} columns`;
  return (
    <>
      <p className="mb-2 text-soft">{why}, so this is shown as text.</p>
      <Code text={text} label={name} />
    </>
  );
}

function Json({ text, name }: { text: string; name: string }): ReactNode {
  const value = useMemo(() => readJson(text), [text]);
  return value === null ? (
    <>
      <p className="mb-2 text-soft">The file is no valid JSON, so this is shown as text.</p>
      <Source text={text} name={name} />
    </>
  ) : (
    <JsonView value={value.json} what={name} source={() => text} />
  );
}

/** Lines of a diff that are drawn at once. */
const LINES = 2000;

function Diff({ text, name }: { text: string; name: string }): ReactNode {
  const lines = useMemo(() => text.replace(/\n$/, "").split("\n"), [text]);
  const { shown, more } = useShowMore(lines, LINES);
  return (
    <div
      // Long lines scroll: a keyboard has to reach them.
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={name}
      className="max-h-[75vh] overflow-auto rounded border border-line bg-panel p-3 font-mono text-dense whitespace-pre"
    >
      {shown.map((line, index) => (
        // Lines have no other name than their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className={lineLook(line)} dir="auto">
          {line === "" ? " " : escaped(line)}
        </div>
      ))}
      {more}
    </div>
  );
}

function lineLook(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ")) return "font-medium";
  if (line.startsWith("+")) return "bg-ok-tint text-ok";
  if (line.startsWith("-")) return "bg-fail-tint text-fail";
  return line.startsWith("@@") ? "text-accent" : "text-soft";
}
