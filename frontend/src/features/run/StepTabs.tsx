import { type KeyboardEvent, type ReactNode, useId } from "react";
import { useQuery } from "urql";

import { ArtifactRows } from "../../components/ArtifactRows.tsx";
import { PayloadView } from "../../components/JsonView.tsx";
import { lost } from "../../components/Notice.tsx";
import { Unread } from "../../components/Page.tsx";
import { humanise } from "../../lib/format.ts";
import { LogView } from "./LogView.tsx";
import { StepArtifactsDocument, StepDetailDocument, type StepRowFragment } from "./run.generated.ts";
import { useMoved } from "./useMoved.ts";

export const TABS = ["input", "output", "log", "artifacts"] as const;
export type Tab = (typeof TABS)[number];

interface Props {
  runId: string;
  step: StepRowFragment;
  tab: Tab;
  onTab: (tab: Tab) => void;
}

/** The tab that matters when none was chosen. */
export function tabFor(step: StepRowFragment): Tab {
  if (step.artifacts.length > 0) return "artifacts";
  if (step.state === "RUNNING" || step.state === "WAITING") return "log";
  return step.state === "SUCCEEDED" ? "output" : "input";
}

export function StepTabs({ runId, step, tab, onTab }: Props): ReactNode {
  const id = useId();
  function move(event: KeyboardEvent<HTMLElement>): void {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = TABS[(TABS.indexOf(tab) + by + TABS.length) % TABS.length];
    if (by === 0 || next === undefined) return;
    onTab(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  }
  return (
    <section aria-label={`Step ${humanise(step.key)}`} className="min-w-0">
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its tabs take focus, one at a time */}
      <div role="tablist" aria-label="Of the step" onKeyDown={move} className="mb-3 flex gap-5 border-b border-line">
        {TABS.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-tab={name}
            aria-selected={tab === name}
            aria-controls={`${id}-panel`}
            tabIndex={tab === name ? 0 : -1}
            onClick={() => onTab(name)}
            className={`-mb-px border-b-2 pb-1.5 font-medium ${tab === name ? "border-accent text-ink" : "border-transparent text-soft hover:text-ink"}`}
          >
            {humanise(name)}
            {name === "artifacts" && step.artifacts.length > 0 ? <span className="ml-1 text-soft">{step.artifacts.length}</span> : null}
          </button>
        ))}
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what a tab shows takes focus */}
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`} tabIndex={0}>
        <Panel key={step.id} runId={runId} step={step} tab={tab} />
      </div>
    </section>
  );
}

function Panel({ runId, step, tab }: Omit<Props, "onTab">): ReactNode {
  switch (tab) {
    case "input":
    case "output":
      return <Payloads runId={runId} step={step} tab={tab} />;
    case "log":
      return <LogView step={step} />;
    case "artifacts":
      return <Artifacts step={step} />;
    default:
      return tab satisfies never;
  }
}

function Payloads({ runId, step, tab }: { runId: string; step: StepRowFragment; tab: "input" | "output" }): ReactNode {
  // Read again whenever the step has moved on: what it got and gave may be new.
  const [{ data, fetching, error }] = useQuery({ query: StepDetailDocument, variables: { id: runId, key: step.key }, context: useMoved(step) });
  const found = data?.run?.step;
  if (found === undefined || found === null) return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  if (tab === "output") {
    return <PayloadView payload={found.output} empty={step.state === "FAILED" ? "It failed before it gave anything." : "It has not given anything yet."} />;
  }
  const from = [...new Set((found.step?.references ?? []).map((reference) => reference.sourceStep))].filter((source) => source !== null);
  return (
    <>
      {from.length === 0 ? null : <p className="mb-2 text-soft">Takes from {from.map(humanise).join(", ")}.</p>}
      <PayloadView payload={found.input} empty="It has not started, so its input is not known yet." />
    </>
  );
}

function Artifacts({ step }: { step: StepRowFragment }): ReactNode {
  const [{ data, fetching, error }] = useQuery({ query: StepArtifactsDocument, variables: { id: step.id }, context: useMoved(step) });
  const found = data?.node;
  if (found === undefined || found === null || !("artifacts" in found)) return <Unread fetching={fetching} problem={error === undefined ? null : lost(error)} />;
  if (found.artifacts.length === 0) return <p className="py-4 text-soft">It has made no files.</p>;
  return <ArtifactRows artifacts={found.artifacts} />;
}
