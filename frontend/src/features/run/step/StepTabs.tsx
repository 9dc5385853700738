import * as Tabs from "@radix-ui/react-tabs";
import { type ReactNode, Suspense } from "react";
import { useQuery } from "urql";

import { ArtifactRows } from "../../../domain/files/ArtifactRows.tsx";
import { ContentBoundary } from "../../../components/ContentBoundary.tsx";
import { PayloadView } from "../../../components/JsonView.tsx";
import { LazyFallback } from "../../../components/LazyFallback.tsx";
import { lazyComponent } from "../../../lib/server/lazyComponent.ts";
import { lazyLoad } from "../../../lib/server/lazyLoad.ts";
import { problemOfError } from "../../../lib/server/problem.ts";
import { LoadingOrProblem } from "../../../components/Page.tsx";
import { isFinal } from "../../../domain/runs/states.ts";
import { humanise } from "../../../lib/text/format.ts";
import { InputTab } from "./InputTab.tsx";
import { type Tab, tabFor, tabsOf } from "./tabs.ts";
import type { LogAddress } from "../log/address.ts";
import { LogView } from "../log/LogView.tsx";
import { OutputTab } from "./OutputTab.tsx";
import {
  AttemptDetailDocument,
  type RunWholeFragment,
  StepArtifactsDocument,
  type StepRowFragment,
} from "../run.generated.ts";
import { useRefetchContext } from "./useRefetchContext.ts";

const Transcript = lazyComponent(
  lazyLoad(() => import("./Transcript.tsx")),
  "Transcript",
);

/** Keys that only lead past a tab, or do nothing alone. */
const PASSING = new Set(["Tab", "Shift", "Control", "Alt", "AltGraph", "Meta", "CapsLock"]);

interface Props {
  run: RunWholeFragment;
  step: StepRowFragment;
  tab: Tab;
  /** Whether somebody chose the tab; otherwise it follows what the step comes to. */
  chosen: boolean;
  /** The number of an attempt to look at on its own. */
  attempt: number | undefined;
  log: LogAddress;
  onTab: (tab: Tab) => void;
  onLog: (change: LogAddress) => void;
}

export function StepTabs({ run, step, tab: asked, chosen, attempt, log, onTab, onLog }: Props): ReactNode {
  const tabs = tabsOf(step);
  const tab = tabs.includes(asked) ? asked : tabFor(step);
  // Who reads or presses the tab of a step that still runs has chosen it: it does not give way when the step ends.
  function keep(): void {
    if (!chosen && !isFinal(step.state)) onTab(tab);
  }
  return (
    <Tabs.Root asChild value={tab} onValueChange={(value) => onTab(tabs.find((one) => one === value) ?? tab)}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it listens, and does nothing else */}
      <section
        aria-label={`Step ${humanise(step.key)}`}
        className="min-w-0"
        onPointerDown={keep}
        onWheel={keep}
        onKeyDown={({ key }) => PASSING.has(key) || keep()}
      >
        <Tabs.List aria-label="Of the step" className="mb-3 flex gap-5 border-b border-line max-md:gap-3.5">
          {tabs.map((name) => (
            <Tabs.Trigger
              key={name}
              value={name}
              className="-mb-px border-b-2 border-transparent pb-1.5 font-medium text-soft not-aria-selected:hover:text-ink aria-selected:border-accent aria-selected:text-ink"
            >
              {humanise(name)}
              {name === "artifacts" && step.artifacts.length > 0 ? (
                <span className="ml-1 text-soft">{step.artifacts.length}</span>
              ) : null}
            </Tabs.Trigger>
          ))}
        </Tabs.List>
        {tabs.map((name) => (
          <Tabs.Content key={name} value={name}>
            <ContentBoundary key={step.id} what={`${humanise(name)} of ${humanise(step.key)}`} of={[step, attempt]}>
              <Panel run={run} step={step} tab={name} attempt={attempt} log={log} onLog={onLog} />
            </ContentBoundary>
          </Tabs.Content>
        ))}
      </section>
    </Tabs.Root>
  );
}

function Panel({ run, step, tab, attempt, log, onLog }: Omit<Props, "onTab" | "chosen">): ReactNode {
  if (tab === "transcript")
    return (
      <Suspense fallback={<LazyFallback />}>
        <Transcript step={step} attempt={attempt} />
      </Suspense>
    );
  if (tab === "log") return <LogView step={step} attempt={attempt} address={log} onAddress={onLog} />;
  // The step has the data of the last attempt; an earlier one needs its own query.
  const last = step.attempts.at(-1);
  const earlier =
    attempt === undefined ? undefined : step.attempts.find(({ number, id }) => number === attempt && id !== last?.id);
  if (earlier !== undefined)
    return (
      <>
        {tab === "input" ? <Notes notes={earlier.notes} /> : null}
        <OfAttempt id={earlier.id} number={earlier.number} tab={tab} />
      </>
    );
  switch (tab) {
    case "input":
      return (
        <>
          <Notes notes={last?.notes ?? []} />
          <InputTab run={run} step={step} />
        </>
      );
    case "output":
      return <OutputTab runId={run.id} step={step} />;
    case "artifacts":
      return <Artifacts step={step} />;
    default:
      return tab satisfies never;
  }
}

/** Facts about an attempt that are no problem, such as optional inputs that had no value. */
function Notes({ notes }: { notes: readonly string[] }): ReactNode {
  if (notes.length === 0) return null;
  return (
    <ul aria-label="Notes" className="mb-2 text-soft">
      {notes.map((note) => (
        <li key={note} className="wrap-anywhere">
          {note}
        </li>
      ))}
    </ul>
  );
}

function Artifacts({ step }: { step: StepRowFragment }): ReactNode {
  const [{ data, fetching, error }] = useQuery({
    query: StepArtifactsDocument,
    variables: { id: step.id },
    context: useRefetchContext(step),
  });
  const found = data?.node;
  if (found === undefined || found === null || !("artifacts" in found))
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  if (found.artifacts.length === 0) return <p className="py-4 text-soft">No files.</p>;
  return <ArtifactRows artifacts={found.artifacts} />;
}

function OfAttempt({
  id,
  number,
  tab,
}: {
  id: string;
  number: number;
  tab: Exclude<Tab, "log" | "transcript">;
}): ReactNode {
  const [{ data, fetching, error }] = useQuery({ query: AttemptDetailDocument, variables: { id } });
  const found = data?.node;
  if (found === undefined || found === null || !("input" in found))
    return <LoadingOrProblem fetching={fetching} problem={error === undefined ? null : problemOfError(error)} />;
  const value = tab === "input" ? found.input : found.output;
  return (
    <>
      <p className="mb-2 text-soft">
        Of attempt {number}
        {found.packVersion === null ? "" : `, with version ${found.packVersion} of the pack`}.
      </p>
      {tab === "artifacts" ? (
        found.artifacts.length === 0 ? (
          <p className="py-4 text-soft">No files.</p>
        ) : (
          <ArtifactRows artifacts={found.artifacts} />
        )
      ) : (
        <PayloadView payload={value} empty={tab === "input" ? "Its input was not resolved." : "No output."} />
      )}
    </>
  );
}
