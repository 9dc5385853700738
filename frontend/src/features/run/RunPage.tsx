import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useEffect, useState } from "react";
import { useClient, useMutation, useQuery } from "urql";

import { Button } from "../../components/Button.tsx";
import { Moment } from "../../components/Moment.tsx";
import { lost } from "../../components/Notice.tsx";
import { Absent, Unread, useTitle } from "../../components/Page.tsx";
import { StateMark } from "../../components/StateMark.tsx";
import { setServerTime, useNow } from "../../lib/clock.ts";
import { duration, humanise, money, tokens } from "../../lib/format.ts";
import { CAUSES, isFinal, isLive, STATES } from "../../lib/states.ts";
import { useFavicon } from "../../lib/useFavicon.ts";
import { useFollow } from "../../lib/useFollow.ts";
import { CancelDialog, RerunDialog, ResumeDialog, resumeStep } from "./dialogs.tsx";
import { FailurePanel } from "./FailurePanel.tsx";
import { AcknowledgeRunDocument, RunEventsDocument, RunPageDocument, type RunWholeFragment, StepDetailDocument, type StepRowFragment } from "./run.generated.ts";
import { StepTabs, type Tab, tabFor, TABS } from "./StepTabs.tsx";
import { workSeconds } from "./axis.ts";
import { Timeline } from "./Timeline.tsx";

export interface RunSearch {
  step?: string | undefined;
  tab?: Tab | undefined;
}

export function runSearch(given: Record<string, unknown>): RunSearch {
  const tab = TABS.find((name) => name === given["tab"]);
  return { step: typeof given["step"] === "string" ? given["step"] : undefined, tab };
}

export function RunPage(): ReactNode {
  const { run: id } = useParams({ from: "/runs/$run" });
  const [{ data, fetching, error }] = useQuery({ query: RunPageDocument, variables: { id } });
  const client = useClient();
  const run = data?.run ?? null;

  // Followed until the stream itself ends: that the run has ended may be known earlier than how. A run that was resumed
  // goes on after its last event: the stream is opened anew.
  const [after, setAfter] = useState<string | null>(null);
  useFollow(RunEventsDocument, (cursor) => ({ id, after: cursor }), {
    key: run === null ? null : `${id} ${run.resumeCount}`,
    after: after ?? run?.eventCursor ?? null,
    cursorOf: ({ runEvents }) => runEvents.cursor,
    isEnd: ({ runEvents }) => runEvents.__typename === "RunEventsEnd",
    onMessage: ({ runEvents }) => {
      setAfter(runEvents.cursor);
      if (runEvents.__typename !== "RunEventBatch") void client.query(RunPageDocument, { id }, { requestPolicy: "network-only" }).toPromise();
    },
    poll: async () => (await client.query(RunPageDocument, { id }, { requestPolicy: "network-only" })).error === undefined,
  });
  const now = data?.server.now;
  useEffect(() => {
    if (now !== undefined) setServerTime(now);
  }, [now]);

  if (run === null) {
    if (data !== undefined && !fetching) {
      return <Absent title="There is no such run" onward={<Link to="/runs" className="link">All runs</Link>}>No run {id} is kept here, or it is not yours to see.</Absent>;
    }
    return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  }
  return <Whole key={run.id} run={run} />;
}

type Asked = "resume" | "change" | "rerun" | "cancel" | null;

function Whole({ run }: { run: RunWholeFragment }): ReactNode {
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const [asked, setAsked] = useState<Asked>(null);
  const close = useCallback(() => setAsked(null), []);
  const failed = run.failure === null ? null : (run.steps.find((step) => step.key === run.failure?.stepKey) ?? null);
  const step = run.steps.find(({ key }) => key === search.step) ?? failed ?? currentOf(run);
  const tab = search.tab ?? (step === null ? "output" : tabFor(step));
  useTitle(`${STATES[run.state].word}: ${run.title}`);
  useFavicon(run.state);
  const [{ data: detail }] = useQuery({ query: StepDetailDocument, variables: { id: run.id, key: resumeStep(run)?.key ?? "" }, pause: asked !== "change" });
  const stepInput = detail?.run?.step?.input;

  const show = useCallback((change: RunSearch) => void navigate({ to: "/runs/$run", params: { run: run.id }, search: (kept: RunSearch) => ({ ...kept, ...change }), replace: true }), [navigate, run.id]);
  const actions = <Actions run={run} onAsk={setAsked} />;
  const shownFailure = isFinal(run.state) && run.failure !== null && (step === failed || step === null) ? run.failure : null;
  return (
    <>
      <Announcer run={run} />
      <Head run={run} actions={actions} />
      <Timeline run={run} selected={step?.key ?? null} onSelect={(key) => show({ step: key, tab: undefined })} />
      <div className={`mt-5 grid items-start gap-x-8 gap-y-6 ${shownFailure === null ? "" : "lg:grid-cols-[minmax(0,1.1fr)_minmax(0,1fr)]"}`}>
        {shownFailure === null ? null : (
          <FailurePanel
            run={run}
            step={failed}
            failure={shownFailure}
            actions={
              <>
                {run.actions.includes("RESUME") && failed !== null ? <Button onClick={() => setAsked("change")}>Change input…</Button> : null}
                {run.actions.includes("ACKNOWLEDGE") ? <Acknowledge run={run} /> : null}
              </>
            }
          />
        )}
        {step === null ? null : (
          <div className="min-w-0">
            {shownFailure === null ? <StepHead step={step} /> : null}
            <StepTabs runId={run.id} step={step} tab={tab} onTab={(chosen) => show({ step: step.key, tab: chosen })} />
          </div>
        )}
      </div>
      {asked === "resume" ? <ResumeDialog run={run} onClose={close} input={undefined} /> : null}
      {asked === "change" && stepInput !== undefined ? <ResumeDialog run={run} onClose={close} input={stepInput?.json ?? {}} /> : null}
      {asked === "rerun" ? <RerunDialog run={run} onClose={close} /> : null}
      {asked === "cancel" ? <CancelDialog run={run} onClose={close} /> : null}
    </>
  );
}

function currentOf(run: RunWholeFragment): StepRowFragment | null {
  return run.steps.find((step) => step.id === run.currentStep?.id) ?? run.steps.findLast((step) => step.state !== "PENDING") ?? run.steps[0] ?? null;
}

/** The one primary action, from the state; the others beside it. The server lists what may be done, best first. */
function Actions({ run, onAsk }: { run: RunWholeFragment; onAsk: (what: Asked) => void }): ReactNode {
  const next = resumeStep(run);
  const words: Partial<Record<RunWholeFragment["actions"][number], { word: string; ask: Asked }>> = {
    RESUME: { word: next === null ? "Resume" : `Resume from step ${run.steps.indexOf(next) + 1}`, ask: "resume" },
    RERUN: { word: "Run again", ask: "rerun" },
    CANCEL: { word: "Cancel", ask: "cancel" },
  };
  const offered = run.actions.flatMap((action) => words[action] ?? []);
  return offered
    .map(({ word, ask }, index) => (
      <Button key={word} kind={index === 0 && ask !== "cancel" ? "primary" : "plain"} onClick={() => onAsk(ask)}>
        {word}
      </Button>
    ))
    .toReversed();
}

function Acknowledge({ run }: { run: RunWholeFragment }): ReactNode {
  const [{ fetching }, acknowledge] = useMutation(AcknowledgeRunDocument);
  const done = run.acknowledgedAt !== null;
  return (
    <Button kind="quiet" disabled={fetching} onClick={() => void acknowledge({ id: run.id, acknowledged: !done })}>
      {done ? "Needs attention again" : "Acknowledge"}
    </Button>
  );
}

function Head({ run, actions }: { run: RunWholeFragment; actions: ReactNode }): ReactNode {
  const failed = run.failure?.stepKey ?? null;
  const place = failed === null ? null : run.steps.findIndex((step) => step.key === failed) + 1;
  const at = run.state === "FAILED" && place !== null && place > 0 ? `at step ${place} of ${run.steps.length}` : isLive(run.state) ? doing(run) : null;
  return (
    <header className="mb-4">
      <nav aria-label="Where this is" className="mb-1 text-dense text-soft">
        <Link to="/runs" className="link">
          Runs
        </Link>
        {run.pipeline === null ? null : (
          <>
            {" / "}
            <Link to="/pipelines/$pipeline" params={{ pipeline: run.pipeline.key }} className="link">
              {run.pipeline.name}
            </Link>
          </>
        )}
        {run.pack === null ? null : (
          <>
            {" / "}
            <Link to="/catalog/$pack" params={{ pack: run.pack.id }} className="link">
              {run.pack.name}
            </Link>
          </>
        )}
      </nav>
      <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-3">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="wrap-anywhere">{run.title}</h1>
          <span className="inline-flex items-center gap-2">
            <StateMark state={run.state} tinted />
            {at === null ? null : <span className="text-soft">{at}</span>}
          </span>
        </div>
        <div className="flex gap-2">{actions}</div>
      </div>
      <Facts run={run} />
    </header>
  );
}

function doing(run: RunWholeFragment): string | null {
  if (run.wait !== null) return run.wait.message;
  const place = run.steps.findIndex((step) => step.id === run.currentStep?.id) + 1;
  return place === 0 ? null : `step ${place} of ${run.steps.length}`;
}

function Facts({ run }: { run: RunWholeFragment }): ReactNode {
  const live = run.state === "RUNNING" || run.state === "CANCELLING";
  const now = useNow(live, 500);
  const work = run.steps.reduce((sum, step) => sum + workSeconds(step, now), 0);
  const facts: ReactNode[] = [
    `by ${run.caller.name}${run.cause === "PERSON" ? "" : `, ${CAUSES[run.cause]}`}${run.clientName === null ? "" : ` via ${run.clientName.slice(0, 40)}`}`,
    <Moment key="at" at={run.createdAt} />,
    run.startedAt === null ? "not started" : `${duration(work)} of work`,
  ];
  if (run.cost.amountUsd !== null && run.cost.amountUsd > 0) facts.push(money(run.cost.amountUsd));
  const used = (run.cost.usage?.input ?? 0) + (run.cost.usage?.output ?? 0);
  if (used > 0) facts.push(tokens(used));
  if (run.version !== null) {
    const current = run.pipeline?.currentVersion.number;
    facts.push(`definition v${run.version.number}${current === undefined || current === run.version.number ? "" : ` (current v${current})`}`);
  }
  if (run.resumeCount > 0) facts.push(run.resumeCount === 1 ? "resumed once" : `resumed ${run.resumeCount} times`);
  if (run.rerunOf !== null) {
    facts.push(
      <Link key="of" to="/runs/$run" params={{ run: run.rerunOf.id }} className="link">
        again after an earlier run
      </Link>,
    );
  }
  return (
    <ul className="mt-1 flex flex-wrap gap-x-1.5 text-dense text-soft [&>li:not(:last-child)]:after:content-['_·']">
      {facts.map((fact, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <li key={index}>{fact}</li>
      ))}
    </ul>
  );
}

function StepHead({ step }: { step: StepRowFragment }): ReactNode {
  return (
    <div className="mb-3">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2>{humanise(step.key)}</h2>
        <StateMark state={step.state} />
      </div>
      {step.failure === null ? null : <p className="text-soft wrap-anywhere">{step.failure.message}</p>}
      {step.warnings.map((warning) => (
        <p key={warning} className="mt-1 border-l-2 border-warn bg-warn-tint px-3 py-1 wrap-anywhere">
          {warning}
        </p>
      ))}
    </div>
  );
}

/** Tells screen readers of every step politely, and of a failure at once. */
function Announcer({ run }: { run: RunWholeFragment }): ReactNode {
  const failed = run.state === "FAILED";
  const step = run.currentStep;
  return (
    <>
      <p role="status" className="sr-only">
        {failed ? "" : `${STATES[run.state].word}${step === null || !isLive(run.state) ? "" : `, ${humanise(step.key)}`}`}
      </p>
      <p role="alert" className="sr-only">
        {failed ? `Failed. ${run.failure?.message ?? ""}` : ""}
      </p>
    </>
  );
}
