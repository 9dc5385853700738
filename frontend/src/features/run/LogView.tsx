import { type ReactNode, useEffect, useRef, useState } from "react";
import { useQuery } from "urql";

import { lost } from "../../components/Notice.tsx";
import { Unread } from "../../components/Page.tsx";
import { humanise } from "../../lib/format.ts";
import { useFollow } from "../../lib/useFollow.ts";
import { added, type Log } from "./log.ts";
import { AttemptLogDocument, AttemptOutputDocument, type StepRowFragment } from "./run.generated.ts";

const INK: Record<string, string> = { ERROR: "text-fail", WARNING: "text-warn", DEBUG: "text-soft" };

/** What the step's attempts have logged; the last one unless another is chosen. */
export function LogView({ step }: { step: StepRowFragment }): ReactNode {
  const [chosen, setChosen] = useState<string | null>(null);
  const attempt = step.attempts.find(({ id }) => id === chosen) ?? step.attempts.at(-1);
  if (attempt === undefined) return <p className="py-4 text-soft">It has not started.</p>;
  return (
    <>
      {step.attempts.length < 2 ? null : (
        <label className="mb-2 flex items-center gap-2 text-soft">
          Attempt
          <select className="field w-auto" value={attempt.id} onChange={(event) => setChosen(event.target.value)}>
            {step.attempts.map(({ id, number, state }) => (
              <option key={id} value={id}>
                {number}, {humanise(state.toLowerCase())}
              </option>
            ))}
          </select>
        </label>
      )}
      <AttemptLog key={attempt.id} id={attempt.id} live={attempt.endedAt === null} />
    </>
  );
}

function AttemptLog({ id, live }: { id: string; live: boolean }): ReactNode {
  const [{ data, fetching, error }, again] = useQuery({ query: AttemptLogDocument, variables: { id }, requestPolicy: "network-only" });
  const read = data?.node !== null && data?.node !== undefined && "log" in data.node ? data.node.log : null;
  if (read === null) return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  const first = { lines: read.nodes, cursor: read.pageInfo.endCursor };
  return <Followed key={`${id} ${first.cursor}`} id={id} live={live} first={first} again={() => again({ requestPolicy: "network-only" })} />;
}

function Followed({ id, live, first, again }: { id: string; live: boolean; first: Log; again: () => void }): ReactNode {
  const [log, setLog] = useState(first);
  useFollow(AttemptOutputDocument, (after) => ({ id, after }), {
    key: live ? id : null,
    after: log.cursor,
    cursorOf: ({ attemptOutput }) => attemptOutput.cursor,
    isEnd: ({ attemptOutput }) => attemptOutput.__typename === "AttemptOutputEnd",
    onMessage: ({ attemptOutput }) => {
      if (attemptOutput.__typename === "AttemptOutputBatch") {
        setLog((known) => added(known, attemptOutput.lines, attemptOutput.cursor));
      }
    },
    poll: async () => {
      again();
      return navigator.onLine;
    },
  });
  if (log.lines.length === 0) return <p className="py-4 text-soft">{live ? "Nothing logged yet." : "It logged nothing."}</p>;
  return <Lines log={log} />;
}

/** Follows new lines only while it is scrolled to the end. */
function Lines({ log }: { log: Log }): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    if (log.lines.length > 0 && atEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [log]);
  return (
    <div
      ref={box}
      role="log"
      aria-label="Log"
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        atEnd.current = scrollHeight - scrollTop - clientHeight < 24;
      }}
      className="max-h-96 overflow-auto rounded border border-line bg-panel p-3 font-mono text-dense"
    >
      {log.lines.map((line, index) => (
        // Lines have no name of their own and are only ever added at the end.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="flex gap-3">
          <time dateTime={line.at} className="shrink-0 text-soft">
            {new Date(line.at).toLocaleTimeString(undefined, { hour12: false })}
          </time>
          <span className={`whitespace-pre-wrap wrap-anywhere ${INK[line.level] ?? ""}`} dir="auto">
            {line.level === "ERROR" || line.level === "WARNING" ? `${humanise(line.level.toLowerCase())}: ` : ""}
            {line.text}
          </span>
        </div>
      ))}
    </div>
  );
}
