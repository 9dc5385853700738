import { type ReactNode, useEffect, useRef, useState } from "react";
import { useClient, useQuery } from "urql";

import { problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { clockTime, count, humanise } from "../../../lib/text/format.ts";
import { isReachable } from "../../../lib/server/connection.ts";
import { useLiveStream } from "../../../lib/server/useLiveStream.ts";
import { appendLines, isCut, type Line, type Log, matching, prependLines } from "./log.ts";
import {
  AttemptLogDocument,
  AttemptOutputDocument,
  EarlierLogDocument,
  type StepRowFragment,
} from "../run.generated.ts";

const INK: Record<string, string> = { ERROR: "text-fail", WARNING: "text-warn", DEBUG: "text-soft" };
/** This far from the end still counts as being there. */
const AT_END_PX = 24;

/** The log of an attempt; the last one unless another is selected. */
export function LogView({ step, attempt: number }: { step: StepRowFragment; attempt: number | undefined }): ReactNode {
  const attempt = step.attempts.find((one) => one.number === number) ?? step.attempts.at(-1);
  if (attempt === undefined) return <p className="py-4 text-soft">It has not started.</p>;
  return <AttemptLog key={attempt.id} id={attempt.id} live={attempt.endedAt === null} />;
}

function AttemptLog({ id, live }: { id: string; live: boolean }): ReactNode {
  const [{ data, fetching, error }, again] = useQuery({
    query: AttemptLogDocument,
    variables: { id },
    requestPolicy: "network-only",
  });
  const read = data?.node !== null && data?.node !== undefined && "log" in data.node ? data.node.log : null;
  if (read === null)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const { endCursor, startCursor, hasPreviousPage } = read.pageInfo;
  const first = {
    lines: read.nodes,
    cursor: endCursor,
    before: hasPreviousPage ? startCursor : null,
    total: read.nodes.length,
  };
  return (
    <Followed
      key={`${id} ${first.cursor}`}
      id={id}
      live={live}
      first={first}
      again={() => again({ requestPolicy: "network-only" })}
    />
  );
}

function Followed({ id, live, first, again }: { id: string; live: boolean; first: Log; again: () => void }): ReactNode {
  const client = useClient();
  const [log, setLog] = useState(first);
  const [cut, setCut] = useState(false);
  useLiveStream(AttemptOutputDocument, (after) => ({ id, after }), {
    key: live ? id : null,
    after: () => log.cursor,
    cursorOf: ({ attemptOutput }) => attemptOutput.cursor,
    isEnd: ({ attemptOutput }) => attemptOutput.__typename === "AttemptOutputEnd",
    onMessage: ({ attemptOutput }) => {
      if (attemptOutput.__typename === "AttemptOutputGap") again();
      if (attemptOutput.__typename !== "AttemptOutputBatch") return;
      if (isCut(log, attemptOutput.lines)) setCut(true);
      setLog((known) => appendLines(known, attemptOutput.lines, attemptOutput.cursor));
    },
    poll: async () => {
      again();
      return isReachable();
    },
  });

  async function earlier(): Promise<void> {
    if (log.before === null) return;
    const { data } = await client.query(EarlierLogDocument, { id, before: log.before }).toPromise();
    const found = data?.node !== null && data?.node !== undefined && "earlier" in data.node ? data.node.earlier : null;
    if (found === null) return;
    setLog((known) =>
      prependLines(known, found.nodes, found.pageInfo.hasPreviousPage ? found.pageInfo.startCursor : null),
    );
  }

  if (log.lines.length === 0) return <p className="py-4 text-soft">{live ? "No log lines yet." : "No log."}</p>;
  return <Lines log={log} cut={cut} onEarlier={log.before === null || cut ? null : () => void earlier()} />;
}

/** Follows new lines only while it is scrolled to the end; says how many came otherwise. */
function Lines({ log, cut, onEarlier }: { log: Log; cut: boolean; onEarlier: (() => void) | null }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [wanted, setWanted] = useState("");
  const [wrap, setWrap] = useState(true);
  // Where the reader left the end; null while they are there.
  const [left, setLeft] = useState<number | null>(null);
  const shown = matching(log.lines, wanted);
  const unseen = left === null ? 0 : log.total - left;

  useEffect(() => {
    if (left === null && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
    // New lines and other line breaks move the end.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [log, left, wrap]);

  function toEnd(): void {
    setLeft(null);
    if (box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }

  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-dense">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          value={wanted}
          onChange={(event) => setWanted(event.target.value)}
          className="field !w-56"
        />
        <label className="inline-flex items-center gap-1.5">
          <input type="checkbox" checked={wrap} onChange={(event) => setWrap(event.target.checked)} />
          Wrap
        </label>
        <span role="status" className="text-soft">
          {wanted.trim() === "" ? "" : `${count(shown.length, "line")} of ${log.lines.length.toLocaleString()}`}
        </span>
        {unseen === 0 ? null : (
          <button type="button" className="link ml-auto" onClick={toEnd}>
            {count(unseen, "new line")}
          </button>
        )}
      </div>
      <div
        ref={box}
        role="log"
        aria-label="Log"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
        tabIndex={0}
        onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
          const there = scrollHeight - scrollTop - clientHeight < AT_END_PX;
          if (there !== (left === null)) setLeft(there ? null : log.total);
        }}
        className="max-h-96 overflow-auto rounded border border-line bg-panel p-3 font-mono text-dense"
      >
        {onEarlier === null ? null : (
          <button type="button" className="link mb-1 font-sans" onClick={onEarlier}>
            Earlier lines
          </button>
        )}
        {cut ? (
          <p className="mb-1 font-sans text-soft">Older lines are kept on the server; reload to see them.</p>
        ) : null}
        {shown.map((line, index) => (
          // Lines have no name of their own and are only ever added at the end.
          // oxlint-disable-next-line react/no-array-index-key
          <Row key={index} line={line} wrap={wrap} />
        ))}
      </div>
    </>
  );
}

/** Characters of a line shown before the reader expands it. */
const SHOWN_CHARACTERS = 10_000;

function LineText({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  if (all || text.length <= SHOWN_CHARACTERS) return text;
  return (
    <>
      {text.slice(0, SHOWN_CHARACTERS)}…{" "}
      <button type="button" className="link font-sans" onClick={() => setAll(true)}>
        show all {count(text.length, "character")}
      </button>
    </>
  );
}

function Row({ line, wrap }: { line: Line; wrap: boolean }): ReactNode {
  return (
    <div className="flex gap-3 [contain-intrinsic-size:auto_20px] [content-visibility:auto]">
      <time dateTime={line.at} className="shrink-0 text-soft">
        {clockTime(line.at)}
      </time>
      <span
        className={`${wrap ? "whitespace-pre-wrap wrap-anywhere" : "whitespace-pre"} ${INK[line.level] ?? ""}`}
        dir="auto"
      >
        {line.level === "ERROR" || line.level === "WARNING" ? `${humanise(line.level.toLowerCase())}: ` : ""}
        <LineText text={line.text} />
      </span>
    </div>
  );
}
