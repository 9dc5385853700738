import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { memo, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useClient, useMutation, useQuery } from "urql";

import { Button, ButtonLink } from "../../components/Button.tsx";
import { ContentBoundary } from "../../components/ContentBoundary.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { problemOfError } from "../../lib/server/problem.ts";
import { NotFound, LoadingOrProblem, useTitle } from "../../components/Page.tsx";
import { StateMark } from "../../domain/runs/StateMark.tsx";
import { LazyDialogFallback, LazyFallback } from "../../components/LazyFallback.tsx";
import { setServerTime } from "../../lib/time/clock.ts";
import { jsonOf } from "../../lib/json/untrusted.ts";
import { humanise } from "../../lib/text/format.ts";
import { lazyComponent } from "../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../lib/server/lazyLoad.ts";
import { isFinal, isLive, STATES } from "../../domain/runs/states.ts";
import { useFavicon } from "../../domain/runs/useFavicon.ts";
import { useLiveStream } from "../../lib/server/useLiveStream.ts";
import { useThrottled } from "../../lib/hooks/useThrottled.ts";
import { useWhileVisible } from "../../lib/hooks/useWhileVisible.ts";
import type { LogAddress } from "./log/address.ts";
import { adviceFor } from "./failure/advice.ts";
import { Attempts } from "./step/Attempts.tsx";
import { currentStep } from "./currentStep.ts";
import type { Asked } from "./actions/dialogs.tsx";
import { FailurePanel } from "./failure/FailurePanel.tsx";
import { initialRun, advanceRun } from "./monotonicRun.ts";
import { RunHeader } from "./RunHeader.tsx";
import { reuseOf } from "./timeline/reuse.ts";
import {
  AcknowledgeRunDocument,
  RunEventsDocument,
  RunPageDocument,
  type RunWholeFragment,
  type StepRowFragment,
} from "./run.generated.ts";
import { Result, resultStep } from "./Result.tsx";
import { type RunSearch, zoomExtent, zoomText } from "./search.ts";
import { Split } from "./Split.tsx";
import { type Tab, tabFor } from "./step/tabs.ts";
import type { Stretch } from "./timeline/axis.ts";
import type { Fold } from "./timeline/fold.ts";
import { type Scale, Timeline } from "./timeline/Timeline.tsx";
import { useRunKeys } from "./useRunKeys.ts";

const loadDialogs = lazyLoad(() => import("./actions/dialogs.tsx"));
const RunDialog = lazyComponent(loadDialogs, "RunDialog");
const StepTabs = lazyComponent(
  lazyLoad(() => import("./step/StepTabs.tsx")),
  "StepTabs",
);

/** Minimum time the followed step stays selected; faster steps show only in their rows. */
const FOLLOWED_MS = 1000;

export function RunPage(): ReactNode {
  const { run: id } = useParams({ from: "/runs/$run" });
  const [{ data, fetching, error }] = useQuery({ query: RunPageDocument, variables: { id } });
  const client = useClient();
  // While the run is read.
  useEffect(() => void StepTabs.preload(), []);
  const run = data?.run ?? null;
  const reread = useCallback(
    () => client.query(RunPageDocument, { id }, { requestPolicy: "network-only" }).toPromise(),
    [client, id],
  );

  // Followed until the stream itself ends: that the run has ended may be known earlier than how. A run that was resumed
  // goes on after its last event: a new stream is opened.
  const heard = useRef<{ id: string; cursor: string } | null>(null);
  useLiveStream(RunEventsDocument, (cursor) => ({ id, after: cursor }), {
    key: run === null ? null : `${id} ${run.resumeCount}`,
    after: () =>
      heard.current !== null && heard.current.id === id ? heard.current.cursor : (run?.eventCursor ?? null),
    cursorOf: ({ runEvents }) => runEvents.cursor,
    isEnd: ({ runEvents }) => runEvents.__typename === "RunEventsEnd",
    onMessage: ({ runEvents }) => {
      // A run that had ended when it was read is known whole.
      const known = heard.current?.id !== id && runEvents.cursor === run?.eventCursor;
      heard.current = { id, cursor: runEvents.cursor };
      if (runEvents.__typename !== "RunEventBatch" && !known) void reread();
    },
    poll: async () => (await reread()).error === undefined,
  });
  const now = data?.server.now;
  useEffect(() => {
    if (now !== undefined) setServerTime(now);
  }, [now]);

  if (run === null) {
    if (data !== undefined && !fetching) {
      return (
        <NotFound
          title="There is no such run"
          onward={
            <Link to="/runs" className="link">
              All runs
            </Link>
          }
        >
          No run {id} exists here, or you may not see it.
        </NotFound>
      );
    }
    return (
      <LoadingOrProblem
        page="This run cannot be loaded"
        fetching={fetching}
        problem={error === undefined ? null : problemOfError(error)}
      />
    );
  }
  return <Forward key={run.id} run={run} reread={reread} />;
}

/** Shows the newest state of the run. A hidden tab renders nothing but its title and icon. */
function Forward({ run, reread }: { run: RunWholeFragment; reread: () => Promise<unknown> }): ReactNode {
  const [known, setKnown] = useState(() => initialRun(run));
  if (known.given !== run) setKnown(advanceRun(known, run));
  const { given, shown } = known;
  useEffect(() => {
    if (given !== shown) void reread();
  }, [given, shown, reread]);
  useTitle(`${STATES[shown.state].word}: ${shown.title}`);
  useFavicon(shown.state);
  return (
    <>
      <Announcer run={shown} />
      <Whole run={useWhileVisible(shown)} />
    </>
  );
}

const Whole = memo(function Whole({ run }: { run: RunWholeFragment }): ReactNode {
  const search = useSearch({ from: "/runs/$run" });
  const navigate = useNavigate({ from: "/runs/$run" });
  const [asked, setAsked] = useState<Asked | null>(
    search.ask === "resume" && run.actions.includes("RESUME") ? "resume" : null,
  );
  const close = useCallback(() => setAsked(null), []);
  const failed = run.failure === null ? null : (run.steps.find((step) => step.key === run.failure?.stepKey) ?? null);
  const current = currentOf(run);
  const followed = useThrottled(current?.key, FOLLOWED_MS);
  const step =
    run.steps.find(({ key }) => key === search.step) ??
    failed ??
    (isLive(run.state) ? run.steps.find(({ key }) => key === followed) : null) ??
    current;
  const tab = search.tab ?? (step === null ? "output" : tabFor(step));
  const advice = adviceFor(run);

  const show = useCallback(
    (change: RunSearch) =>
      void navigate({
        to: "/runs/$run",
        params: { run: run.id },
        search: (kept: RunSearch) => ({ ...kept, ...change }),
        replace: true,
      }),
    [navigate, run.id],
  );
  // Drop it from the address once the dialog is open, so that a reload does not open it again.
  useEffect(() => {
    if (search.ask !== undefined) show({ ask: undefined });
  }, [search.ask, show]);
  const select = useCallback(
    (key: string) =>
      show({ step: key, tab: undefined, attempt: undefined, line: undefined, find: undefined, level: undefined }),
    [show],
  );
  const onScale = useCallback((scale: Scale) => show({ scale: scale === "fit" ? undefined : scale }), [show]);
  const origin = Date.parse(run.createdAt);
  const zoom = useMemo(() => zoomExtent(search.zoom, origin), [search.zoom, origin]);
  // From the zoom of the address, which is ahead of what is drawn when keys follow one another.
  const onZoom = useCallback(
    (change: (shown: Stretch | null) => Stretch | null) =>
      void navigate({
        to: "/runs/$run",
        params: { run: run.id },
        search: (kept: RunSearch) => {
          const extent = change(zoomExtent(kept.zoom, origin));
          return { ...kept, zoom: extent === null ? undefined : zoomText(extent, origin) };
        },
        replace: true,
      }),
    [navigate, run.id, origin],
  );
  const onFold = useCallback((fold: Fold) => show({ fold }), [show]);
  const choose = (attempt: number | undefined) => show({ step: step?.key, attempt, line: undefined });
  const turnTo = (chosen: Tab) => show({ step: step?.key, tab: chosen, line: undefined });
  const stepKey = step?.key;
  const onLog = useCallback((change: LogAddress) => show({ step: stepKey, tab: "log", ...change }), [show, stepKey]);
  useRunKeys({
    run,
    step,
    attempt: search.attempt,
    onSelect: select,
    onAttempt: choose,
    onTab: turnTo,
    onAsk: setAsked,
  });
  // What the reader or a link chose is brought into sight; what the page follows by itself is not.
  const inspected = useRef<HTMLDivElement>(null);
  const chosen = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (chosen.current !== search.step) inspected.current?.scrollIntoView({ block: "nearest" });
    chosen.current = search.step;
  }, [search.step]);

  // An address that names a tab or a line leads past what went wrong.
  const tabs = useRef<HTMLDivElement>(null);
  const [led] = useState(search.tab !== undefined || search.line !== undefined);
  useEffect(() => {
    if (led) tabs.current?.scrollIntoView({ block: "start" });
  }, [led]);

  const result = resultStep(run);
  // A result is opened before it is made again.
  const primary = result === null && (advice === "resume" || advice === "rerun");
  const actions = useMemo(() => <Actions run={run} primary={primary} onAsk={setAsked} />, [run, primary]);
  const shownFailure =
    isFinal(run.state) && run.failure !== null && (step === failed || step === null) ? run.failure : null;
  return (
    // As high as the window, where the panes scroll and not the page.
    <div className="lg:-mb-24 lg:flex lg:h-[calc(100svh-1.25rem)] lg:flex-col">
      <ContentBoundary what="The head of the run" of={[run]}>
        <RunHeader run={run} actions={actions} />
      </ContentBoundary>
      <ContentBoundary what="The dialog" of={[asked]} beside={<Button onClick={close}>Close</Button>}>
        <Suspense fallback={<LazyDialogFallback onClose={close} />}>
          {asked === null ? null : <RunDialog asked={asked} run={run} onClose={close} />}
        </Suspense>
      </ContentBoundary>
      {result === null ? null : (
        <ContentBoundary what="The result" of={[result]}>
          <Result step={result} onMore={() => show({ step: result.key, tab: "artifacts", attempt: undefined })} />
        </ContentBoundary>
      )}
      <Split
        steps={
          <ContentBoundary what="The steps of the run" of={[run]}>
            <Timeline
              run={run}
              selected={step?.key ?? null}
              scale={search.scale ?? "fit"}
              zoom={zoom}
              fold={search.fold}
              onSelect={select}
              onScale={onScale}
              onZoom={onZoom}
              onFold={onFold}
            />
          </ContentBoundary>
        }
        first={
          shownFailure === null ? null : (
            <ContentBoundary what="What went wrong" of={[run]} source={() => jsonOf(run.failure)}>
              <div ref={inspected} className="scroll-mt-4 max-md:scroll-mb-24">
                <FailurePanel
                  run={run}
                  step={failed}
                  failure={shownFailure}
                  advice={advice}
                  attempt={search.attempt}
                  onAttempt={choose}
                  onChange={() => setAsked("change")}
                >
                  {run.actions.includes("ACKNOWLEDGE") ? <Acknowledge run={run} /> : null}
                </FailurePanel>
              </div>
            </ContentBoundary>
          )
        }
        inspector={
          step === null ? null : (
            <>
              {shownFailure === null ? (
                // In a narrow window, under the steps: high enough that the tabs are seen, too.
                <div ref={inspected} className="scroll-mt-4 max-lg:scroll-mb-[45svh]">
                  <StepHead run={run} step={step} attempt={search.attempt} onAttempt={choose} />
                </div>
              ) : null}
              <div
                ref={shownFailure === null ? null : tabs}
                // Room to scroll to before the log is read.
                className={`scroll-mt-4 ${led && shownFailure !== null ? "min-h-[calc(100svh-14rem)]" : ""}`}
              >
                <Suspense fallback={<LazyFallback />}>
                  <StepTabs
                    run={run}
                    step={step}
                    tab={tab}
                    chosen={search.tab !== undefined}
                    attempt={search.attempt}
                    log={search}
                    onTab={turnTo}
                    onLog={onLog}
                  />
                </Suspense>
              </div>
            </>
          )
        }
      />
    </div>
  );
});

function currentOf(run: RunWholeFragment): StepRowFragment | null {
  return currentStep(run) ?? run.steps.at(-1) ?? null;
}

/**
 * What can be done, as the server lists it, best first. The first is primary unless the failure has a better remedy.
 */
function Actions({
  run,
  primary,
  onAsk,
}: {
  run: RunWholeFragment;
  primary: boolean;
  onAsk: (what: Asked) => void;
}): ReactNode {
  const next = currentStep(run);
  const words: Partial<Record<RunWholeFragment["actions"][number], { word: string; ask: Asked }>> = {
    RESUME: { word: next === null ? "Resume" : `Resume from step ${run.steps.indexOf(next) + 1}`, ask: "resume" },
    RERUN: { word: "Run again", ask: "rerun" },
    CANCEL: { word: "Cancel", ask: "cancel" },
  };
  const offered = run.actions.flatMap((action) => words[action] ?? []);
  const buttons = offered
    .map(({ word, ask }, index) => (
      <Button
        key={word}
        kind={index === 0 && primary && ask !== "cancel" ? "primary" : "plain"}
        onPointerEnter={() => void loadDialogs()}
        onClick={() => onAsk(ask)}
      >
        {word}
      </Button>
    ))
    .toReversed();
  return (
    <>
      {run.actions.includes("PROMOTE") ? (
        <ButtonLink to="/pipelines/new" search={{ run: run.id }}>
          Save as a pipeline…
        </ButtonLink>
      ) : null}
      {buttons}
    </>
  );
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

function StepHead({
  run,
  step,
  attempt,
  onAttempt,
}: {
  run: RunWholeFragment;
  step: StepRowFragment;
  attempt: number | undefined;
  onAttempt: (attempt: number | undefined) => void;
}): ReactNode {
  return (
    <div className="mb-4">
      <div className="flex flex-wrap items-center gap-x-3">
        <h2>{humanise(step.key)}</h2>
        <StateMark state={step.state} />
      </div>
      <ReusedFrom step={step} />
      {step.failure === null ? null : (
        <p className="text-soft wrap-anywhere">
          <TextWithCode text={step.failure.message} />
        </p>
      )}
      {step.warnings.map((warning) => (
        <p key={warning} className="mt-1 border-l-2 border-warn bg-warn-tint px-3 py-1 wrap-anywhere">
          <TextWithCode text={warning} />
        </p>
      ))}
      {step.attempts.length > 1 || run.takeovers.length > 0 ? (
        <Attempts run={run} step={step} chosen={attempt} onChoose={onAttempt} />
      ) : null}
    </div>
  );
}

/** Which run a step's output and files were taken from. */
function ReusedFrom({ step }: { step: StepRowFragment }): ReactNode {
  const reuse = reuseOf(step);
  if (reuse === null) return null;
  const source = reuse.madeBy?.runStep;
  if (source === undefined) return <p className="text-soft">Reused from a deleted run.</p>;
  return (
    <p className="text-soft wrap-anywhere">
      Reused from{" "}
      <Link to="/runs/$run" params={{ run: source.run.id }} search={{ step: source.key }} className="link">
        {source.run.title}
      </Link>
      . Nothing ran here; see the log there.
    </p>
  );
}

/** Announces each step to screen readers politely, and a failure at once. */
function Announcer({ run }: { run: RunWholeFragment }): ReactNode {
  const failed = run.state === "FAILED";
  const step = currentStep(run);
  return (
    <>
      <p role="status" className="sr-only">
        {failed
          ? ""
          : `${STATES[run.state].word}${step === null || !isLive(run.state) ? "" : `, ${humanise(step.key)}`}`}
      </p>
      <p role="alert" className="sr-only">
        {failed ? `Failed. ${run.failure?.message ?? ""}` : ""}
      </p>
    </>
  );
}
