import { type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from "react";
import { useClient, useQuery } from "urql";

import { LoadingOrProblem } from "../../../components/Page.tsx";
import { saveText } from "../../../lib/browser/saveText.ts";
import { useDebounced } from "../../../lib/hooks/useDebounced.ts";
import { useLatest } from "../../../lib/hooks/useLatest.ts";
import { isReachable } from "../../../lib/server/connection.ts";
import { problemOfError } from "../../../lib/server/problem.ts";
import { useLiveStream } from "../../../lib/server/useLiveStream.ts";
import { count } from "../../../lib/text/format.ts";
import {
  AttemptLogDocument,
  type AttemptLogQuery,
  AttemptOutputDocument,
  type StepRowFragment,
} from "../run.generated.ts";
import { type LeastLevel, LEVELS, type LogAddress } from "./address.ts";
import { Lines } from "./Lines.tsx";
import { isSearch, LogLines, type Page, PAGE, type Read, type Wanted, wantedOf } from "./LogLines.ts";

/** Typing pauses this long before the server is asked. */
const PAUSE_MS = 250;
const LEVEL_WORDS: Record<LeastLevel, string> = {
  info: "Info and above",
  warning: "Warnings and errors",
  error: "Errors",
};

const WHOLE = "";

/** Key of a search's list. */
function listOf(wanted: Wanted): string {
  return isSearch(wanted) ? JSON.stringify(wanted) : WHOLE;
}

interface Props {
  step: StepRowFragment;
  attempt: number | undefined;
  address: LogAddress;
  onAddress: (change: LogAddress) => void;
}

/** The log of an attempt; the last one unless another is selected. */
export function LogView({ step, attempt: number, ...addressed }: Props): ReactNode {
  const attempt = step.attempts.find((one) => one.number === number) ?? step.attempts.at(-1);
  if (attempt === undefined) return <p className="py-4 text-soft">It has not started.</p>;
  const name = `${step.key}-${attempt.number}.log`;
  return <AttemptLog key={attempt.id} id={attempt.id} name={name} live={attempt.endedAt === null} {...addressed} />;
}

interface OfAttempt extends Pick<Props, "address" | "onAddress"> {
  id: string;
  /** Of the file to download. */
  name: string;
  live: boolean;
}

function AttemptLog(props: OfAttempt): ReactNode {
  const { id, live } = props;
  // To the end of its output, which may come after the end of the attempt.
  const [follows, setFollows] = useState(live);
  const [{ data, fetching, error }, again] = useQuery({
    query: AttemptLogDocument,
    variables: { id, last: PAGE },
    requestPolicy: "network-only",
  });
  const read = pageOf(data);
  if (read === null)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  return (
    <Followed
      key={read.end}
      {...props}
      end={read}
      follows={follows}
      again={() => again({ requestPolicy: "network-only" })}
      onEnd={() => setFollows(false)}
    />
  );
}

function pageOf(data: AttemptLogQuery | undefined): Page | null {
  const node = data?.node;
  if (node === null || node === undefined || !("log" in node)) return null;
  const { nodes, totalCount, pageInfo } = node.log;
  return { lines: nodes, total: totalCount, end: pageInfo.endCursor, more: pageInfo.hasNextPage };
}

interface OfPage extends OfAttempt {
  end: Page;
  follows: boolean;
  again: () => void;
  onEnd: () => void;
}

function Followed({ end, follows, again, onEnd, ...of }: OfPage): ReactNode {
  const client = useClient();
  const { id, live } = of;
  const [log] = useState(() => {
    const read: Read = async (asked) =>
      pageOf((await client.query(AttemptLogDocument, { id, ...asked }, { requestPolicy: "network-only" })).data);
    return new LogLines(read, end);
  });
  useSyncExternalStore(log.subscribe, log.version);
  useLiveStream(AttemptOutputDocument, (after) => ({ id, after }), {
    key: follows ? id : null,
    after: () => end.end,
    cursorOf: ({ attemptOutput }) => attemptOutput.cursor,
    isEnd: ({ attemptOutput }) => attemptOutput.__typename === "AttemptOutputEnd",
    onMessage: ({ attemptOutput }) => {
      if (attemptOutput.__typename === "AttemptOutputGap") again();
      else if (attemptOutput.__typename === "AttemptOutputBatch") log.append(attemptOutput.lines);
    },
    poll: async () => {
      again();
      if (!live) onEnd();
      return isReachable();
    },
  });
  if (log.total === 0) return <p className="py-4 text-soft">{live ? "No log lines yet." : "No log."}</p>;
  return <Searched {...of} log={log} />;
}

function Searched({ name, live, address, onAddress, log }: Omit<OfAttempt, "id"> & { log: LogLines }): ReactNode {
  const { line, level, find } = address;
  const [text, setText] = useState(find ?? "");
  const [seen, setSeen] = useState(find);
  const [wrap, setWrap] = useState(true);
  const [follow, setFollow] = useState(line === undefined && !isSearch(wantedOf(address)));
  // Where the reader left the end.
  const [left, setLeft] = useState(log.total);
  // The index to go to once the list it is of is shown.
  const [goal, setGoal] = useState<{ list: string; index: number } | null>(null);
  const typed = useMemo(() => wantedOf({ find: text, level }), [text, level]);
  const { value: wanted, waiting } = useDebounced(typed, PAUSE_MS);
  const settled = wanted.text === "" ? undefined : wanted.text;
  const latest = useLatest({ line, find, onAddress });
  if (seen !== find) {
    setSeen(find);
    // The address changed elsewhere, such as by a link or by going back: what is typed here is put there once it settles.
    if (find !== settled) search(() => setText(find ?? ""));
  }
  useEffect(() => {
    let isAsked = true;
    void log.search(wanted).then(async () => {
      // The line of the address is seen among those found, or after a search among those around it.
      const number = latest.current.line;
      const index = number === undefined ? null : await log.indexOf(number);
      if (isAsked && (index !== null || isSearch(wanted))) setGoal({ list: listOf(wanted), index: index ?? 0 });
    });
    if (settled !== latest.current.find) latest.current.onAddress({ find: settled });
    return () => {
      isAsked = false;
    };
  }, [log, wanted, settled, latest]);
  const searches = isSearch(wanted);
  const list = listOf(wanted);
  const shown = log.shown().count;
  const unseen = follow || searches ? 0 : log.total - left;

  function search(change: () => void): void {
    change();
    setFollow(false);
    setLeft(log.total);
  }

  function jump(to: number): void {
    setFollow(false);
    setGoal({ list, index: to });
  }

  return (
    <>
      <div className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-2 text-dense">
        <input
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          value={text}
          onChange={({ target }) => search(() => setText(target.value))}
          className="field !w-48"
        />
        <select
          aria-label="Level"
          value={level ?? ""}
          onChange={({ target }) => search(() => onAddress({ level: LEVELS.find((one) => one === target.value) }))}
          className="field !w-auto"
        >
          <option value="">All levels</option>
          {LEVELS.map((one) => (
            <option key={one} value={one}>
              {LEVEL_WORDS[one]}
            </option>
          ))}
        </select>
        <label className="inline-flex items-center gap-1.5">
          <input type="checkbox" checked={wrap} onChange={({ target }) => setWrap(target.checked)} />
          Wrap
        </label>
      </div>
      <div className="mb-1 flex flex-wrap items-center justify-between gap-x-4 text-dense">
        <p role="status" className="text-soft">
          {waiting || log.searching
            ? "Searching…"
            : searches
              ? `${count(shown, "line")} of ${log.total.toLocaleString()}`
              : `${count(shown, "line")}${live && follow ? ", following" : ""}`}
        </p>
        <span className="flex flex-wrap gap-x-4">
          <button type="button" className="link" onClick={() => jump(0)}>
            Start
          </button>
          <button
            type="button"
            className="link"
            onClick={() => {
              setGoal(null);
              setFollow(true);
            }}
          >
            {unseen === 0 ? "End" : count(unseen, "new line")}
          </button>
          <button
            type="button"
            className="link"
            onClick={() => void log.text().then((all) => all !== null && saveText(name, all, "text/plain"))}
          >
            Download
          </button>
        </span>
      </div>
      {shown === 0 ? null : (
        <Lines
          key={list}
          log={log}
          wrap={wrap}
          selected={line}
          goal={goal?.list === list ? Math.min(goal.index, shown - 1) : null}
          onReached={() => setGoal(null)}
          follow={follow}
          onFollow={(next) => {
            setFollow(next);
            setLeft(log.total);
          }}
          onLine={(number) => onAddress({ line: number })}
        />
      )}
    </>
  );
}
