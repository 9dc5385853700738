import { Link } from "@tanstack/react-router";
import { Ban, Check, LoaderCircle, ShieldCheck, X } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useClient, useQuery } from "urql";

import { ContentBoundary } from "../../../components/ContentBoundary.tsx";
import { Timestamp } from "../../../components/Timestamp.tsx";
import { problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { jsonOf } from "../../../lib/json/untrusted.ts";
import { count, duration, humanise, money } from "../../../lib/text/format.ts";
import { ISOLATION } from "../../../domain/runs/isolation.ts";
import { useLiveStream } from "../../../lib/server/useLiveStream.ts";
import {
  AttemptEntriesDocument,
  AttemptTranscriptDocument,
  type AttemptTranscriptQuery,
  EarlierTranscriptDocument,
  type StepRowFragment,
} from "../run.generated.ts";
import { type Entry, merged, type Outcome, type Part, partsOf, piecesOf } from "./transcript.ts";

type Read = Extract<NonNullable<AttemptTranscriptQuery["node"]>, { transcript: unknown }>;

/** Lines of a prompt that show before it is unfolded. */
const PROMPT_LINES = 6;
/** Characters of a text shown before the reader expands it. */
const SHOWN_CHARACTERS = 20_000;
const NOTHING: readonly Entry[] = [];

/** The transcript of an attempt; of the last one unless another is selected. */
export function Transcript({
  step,
  attempt: number,
}: {
  step: StepRowFragment;
  attempt: number | undefined;
}): ReactNode {
  const attempt = step.attempts.find((one) => one.number === number) ?? step.attempts.at(-1);
  if (attempt === undefined) return <p className="py-4 text-soft">It has not started.</p>;
  return <OfAttempt key={attempt.id} id={attempt.id} live={attempt.endedAt === null} />;
}

function OfAttempt({ id, live }: { id: string; live: boolean }): ReactNode {
  // To the end of its entries, which may come after the end of the attempt.
  const [follows, setFollows] = useState(live);
  const [{ data, fetching, error }, again] = useQuery({
    query: AttemptTranscriptDocument,
    variables: { id },
    requestPolicy: "network-only",
  });
  const read = data?.node !== null && data?.node !== undefined && "transcript" in data.node ? data.node : null;
  if (read === null)
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  return (
    <Followed
      id={id}
      live={live}
      follows={follows}
      read={read}
      again={() => again({ requestPolicy: "network-only" })}
      onEnd={() => setFollows(false)}
    />
  );
}

interface Following {
  id: string;
  live: boolean;
  follows: boolean;
  read: Read;
  again: () => void;
  onEnd: () => void;
}

function Followed({ id, live, follows, read, again, onEnd }: Following): ReactNode {
  const client = useClient();
  const { nodes, pageInfo } = read.transcript;
  const [more, setMore] = useState<readonly Entry[]>(NOTHING);
  const [before, setBefore] = useState(pageInfo.hasPreviousPage ? pageInfo.startCursor : null);
  const entries = useMemo(() => merged(nodes, more), [nodes, more]);
  useLiveStream(AttemptEntriesDocument, (after) => ({ id, after }), {
    key: follows ? id : null,
    after: () => pageInfo.endCursor,
    cursorOf: ({ attemptOutput }) => attemptOutput.cursor,
    isEnd: ({ attemptOutput }) => attemptOutput.__typename === "AttemptOutputEnd",
    onMessage: ({ attemptOutput }) => {
      if (attemptOutput.__typename === "AttemptOutputBatch") setMore((known) => merged(known, attemptOutput.entries));
      // Isolation and source are known at the end.
      else if (attemptOutput.__typename === "AttemptOutputEnd") again();
    },
    poll: async () => {
      again();
      if (!live) onEnd();
      return navigator.onLine;
    },
  });

  async function earlier(): Promise<void> {
    if (before === null) return;
    const { data } = await client.query(EarlierTranscriptDocument, { id, before }).toPromise();
    const found = data?.node !== null && data?.node !== undefined && "earlier" in data.node ? data.node.earlier : null;
    if (found === null) return;
    setMore((known) => merged(known, found.nodes));
    setBefore(found.pageInfo.hasPreviousPage ? found.pageInfo.startCursor : null);
  }

  const parts = useMemo(() => partsOf(entries), [entries]);
  return (
    <>
      <About read={read} empty={entries.length === 0} live={live} />
      {before === null ? null : (
        <button type="button" className="link mb-2 text-dense" onClick={() => void earlier()}>
          Earlier entries
        </button>
      )}
      <ol aria-label="Transcript" className="max-w-3xl space-y-3">
        {parts.map((part) => (
          <li key={part.key} className="min-w-0">
            <ContentBoundary what="An entry of the transcript" of={[part]} source={() => jsonOf(part)}>
              <Shown part={part} live={live} />
            </ContentBoundary>
          </li>
        ))}
      </ol>
    </>
  );
}

/** The agent's isolation, the source of a replayed result, and the transcript as a file. */
function About({ read, empty, live }: { read: Read; empty: boolean; live: boolean }): ReactNode {
  const { isolation, cacheReceipt: receipt, transcriptUrl } = read;
  return (
    <div className="mb-3 flex flex-wrap items-center gap-x-4 gap-y-1 text-dense text-soft">
      {isolation === null ? null : (
        <span className="inline-flex items-center gap-1.5">
          <ShieldCheck aria-hidden="true" className="size-4" />
          {humanise(ISOLATION[isolation])}
        </span>
      )}
      {receipt === null ? null : (
        <span>
          Nothing ran: reused from{" "}
          {receipt.madeBy === null ? (
            "a deleted attempt"
          ) : (
            <Link
              to="/runs/$run"
              params={{ run: receipt.madeBy.runStep.run.id }}
              search={{ step: receipt.madeBy.runStep.key, attempt: receipt.madeBy.number }}
              className="link"
            >
              attempt {receipt.madeBy.number} of {humanise(receipt.madeBy.runStep.key)} in{" "}
              {receipt.madeBy.runStep.run.title}
            </Link>
          )}
          , <Timestamp at={receipt.madeAt} />.
        </span>
      )}
      {empty && receipt === null ? <span>{live ? "No entries yet." : "No transcript."}</span> : null}
      {transcriptUrl === null || empty ? null : (
        <a className="link ml-auto" href={transcriptUrl} download>
          Download as JSON Lines
        </a>
      )}
    </div>
  );
}

function Shown({ part, live }: { part: Part; live: boolean }): ReactNode {
  switch (part.kind) {
    case "prompt":
      return <Prompt text={part.text} />;
    case "said":
      return <Said by={part.by} text={part.text} />;
    case "call":
      return <Call part={part} live={live} />;
    case "denial":
      return (
        <p className="flex items-center gap-2 border-l-2 border-fail bg-fail-tint px-3 py-1.5 text-dense wrap-anywhere">
          <Ban aria-hidden="true" className="size-4 shrink-0 text-fail" />
          <span>
            Denied{part.by === null ? "" : ` by ${part.by}`}: {count(part.calls.length, "call")} (
            <Masked text={part.calls.join(", ")} />)
          </span>
        </p>
      );
    case "usage":
      return (
        <p className="text-meta text-soft">
          {part.total ? "" : "This turn: "}
          {part.input.toLocaleString()} tokens in, {part.output.toLocaleString()} out
          {part.usd === null ? "" : `, ${money(part.usd)}`}
        </p>
      );
    case "gap":
      return (
        <p className="border-y border-dashed border-line py-1 text-meta text-soft">
          {count(part.entries, "entry", "entries")} dropped: the transcript is longer than the limit.
        </p>
      );
    default:
      return part satisfies never;
  }
}

function Prompt({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  const lines = text.trimEnd().split("\n");
  const folded = lines.length > PROMPT_LINES;
  return (
    <section aria-label="Prompt" className="rounded border border-line bg-panel px-3 py-2">
      <h3 className="mb-1">Prompt</h3>
      <Text text={all || !folded ? text.trimEnd() : lines.slice(0, PROMPT_LINES).join("\n")} />
      {folded ? (
        <button type="button" aria-expanded={all} className="link mt-1 block text-dense" onClick={() => setAll(!all)}>
          {all ? "Collapse" : `Show all ${count(lines.length, "line")}`}
        </button>
      ) : null}
    </section>
  );
}

const SAID: Record<Extract<Part, { kind: "said" }>["by"], { word: string | null; ink: string }> = {
  agent: { word: null, ink: "" },
  thinking: { word: "Thinking", ink: "text-soft italic" },
  output: { word: null, ink: "font-mono text-dense" },
  error: { word: "Standard error", ink: "border-l-2 border-warn pl-3 font-mono text-dense" },
};

function Said({ by, text }: { by: Extract<Part, { kind: "said" }>["by"]; text: string }): ReactNode {
  const { word, ink } = SAID[by];
  return (
    <div className={ink}>
      {word === null ? null : (
        <span className="block font-sans text-meta font-medium text-soft not-italic">{word}</span>
      )}
      <Text text={text.trimEnd()} />
    </div>
  );
}

const OUTCOME: Record<Outcome, { word: string; icon: typeof Check; ink: string }> = {
  ok: { word: "ok", icon: Check, ink: "text-ok" },
  failed: { word: "failed", icon: X, ink: "text-fail" },
  denied: { word: "denied", icon: Ban, ink: "text-fail" },
  open: { word: "no answer", icon: LoaderCircle, ink: "text-soft" },
};

/** One line for each call, unfolded when it failed or was denied. */
function Call({ part, live }: { part: Extract<Part, { kind: "call" }>; live: boolean }): ReactNode {
  const bad = part.outcome === "failed" || part.outcome === "denied";
  const [chosen, setChosen] = useState<boolean | null>(null);
  const open = chosen ?? bad;
  const { word, icon: Icon, ink } = OUTCOME[part.outcome];
  const status = part.outcome === "open" && live ? "running" : word;
  const given =
    !open || part.arguments === null ? "" : (jsonOf(part.arguments) ?? "They are nested too deeply to show.");
  return (
    <div className="rounded border border-line">
      <button
        type="button"
        aria-expanded={open}
        className="flex w-full items-center gap-2 px-3 py-1.5 text-left text-dense hover:bg-hover"
        onClick={() => setChosen(!open)}
      >
        <Icon aria-hidden="true" className={`size-4 shrink-0 ${ink}`} />
        <span className="min-w-0 flex-1 truncate font-mono">
          <Masked text={part.title} />
        </span>
        <span className="shrink-0 text-soft">
          {part.seconds === null ? "" : `${duration(part.seconds)} · `}
          <span className={ink}>{status}</span>
        </span>
      </button>
      {open ? (
        <div className="space-y-2 border-t border-line px-3 py-2 font-mono text-dense">
          {given === "" ? null : <Text text={given} />}
          {part.result === "" ? (
            <p className="font-sans text-soft">{part.outcome === "open" ? "No result." : "Empty result."}</p>
          ) : (
            <div className={given === "" ? "" : "border-t border-line pt-2"}>
              <Text text={part.result} />
            </div>
          )}
        </div>
      ) : null}
    </div>
  );
}

function Text({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  const cut = !all && text.length > SHOWN_CHARACTERS;
  return (
    <span className="whitespace-pre-wrap wrap-anywhere" dir="auto">
      <Masked text={cut ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text} />
      {cut ? (
        <button type="button" className="link mt-1 block font-sans text-dense not-italic" onClick={() => setAll(true)}>
          Show all {count(text.length, "character")}
        </button>
      ) : null}
    </span>
  );
}

/** A text with masked secrets as chips that name the credential. */
function Masked({ text }: { text: string }): ReactNode {
  return piecesOf(text).map((piece, index) =>
    "secret" in piece ? (
      // Pieces have no other name than their place, and a text never changes in its middle.
      // oxlint-disable-next-line react/no-array-index-key
      <span key={index} className="rounded bg-ink px-1.5 code-in-text text-page" title="A secret was removed here">
        <span className="sr-only">hidden: </span>
        {piece.secret}
      </span>
    ) : (
      piece.text
    ),
  );
}
