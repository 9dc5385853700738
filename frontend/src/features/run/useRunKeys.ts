import { useNavigate, useRouter } from "@tanstack/react-router";

import { withBase } from "../../lib/server/base.ts";
import { copy } from "../../lib/browser/clipboard.ts";
import { neighbour, listHref } from "../../domain/runs/listNavigation.ts";
import { humanise } from "../../lib/text/format.ts";
import { type Action, useActions } from "../../lib/browser/shortcuts.ts";
import type { Asked } from "./actions/dialogs.tsx";
import type { RunWholeFragment, StepRowFragment } from "./run.generated.ts";
import { type Tab, TABS } from "./step/tabs.ts";

interface Shown {
  run: RunWholeFragment;
  step: StepRowFragment | null;
  attempt: number | undefined;
  onSelect: (key: string) => void;
  onAttempt: (attempt: number | undefined) => void;
  onTab: (tab: Tab) => void;
  onAsk: (what: Asked) => void;
}

/** The keys of a run's page, and its entries in the palette. */
export function useRunKeys({ run, step, attempt, onSelect, onAttempt, onTab, onAsk }: Shown): void {
  const navigate = useNavigate();
  const router = useRouter();

  function walk(by: 1 | -1): void {
    const place = run.steps.findIndex(({ id }) => id === step?.id) + by;
    const next = run.steps[place];
    if (next === undefined) return;
    onSelect(next.key);
  }

  function turn(by: 1 | -1): void {
    const numbers = step?.attempts.map(({ number }) => number) ?? [];
    const place = attempt === undefined ? numbers.length - 1 : numbers.indexOf(attempt);
    const next = numbers[place + by];
    if (next !== undefined) onAttempt(next);
  }

  function go(by: 1 | -1): void {
    const next = neighbour(run.id, by);
    if (next !== null) void navigate({ to: "/runs/$run", params: { run: next }, search: {} });
  }

  const actions: Action[] = [
    { keys: "ArrowDown", says: "Next step", quiet: true, act: () => walk(1) },
    { keys: "ArrowUp", says: "Previous step", quiet: true, act: () => walk(-1) },
    { keys: "[", says: "Previous attempt", quiet: true, act: () => turn(-1) },
    { keys: "]", says: "Next attempt", quiet: true, act: () => turn(1) },
    { keys: "j", says: "Next run of the list", act: () => go(1) },
    { keys: "k", says: "Previous run of the list", act: () => go(-1) },
    { keys: "c", says: "Copy the link to this", act: () => void copy(location.href) },
    { keys: "Escape", says: "Back to the list", act: () => router.history.push(listHref() ?? withBase("/runs")) },
    ...TABS.map((tab, index) => ({ keys: String(index + 1), says: humanise(tab), quiet: true, act: () => onTab(tab) })),
  ];
  if (run.actions.includes("RESUME"))
    actions.unshift({ keys: "r", says: "Resume this run…", act: () => onAsk("resume") });
  else if (run.actions.includes("RERUN")) actions.unshift({ keys: "r", says: "Run again…", act: () => onAsk("rerun") });
  if (run.actions.includes("RESUME") && run.actions.includes("RERUN"))
    actions.push({ keys: null, says: "Run again…", act: () => onAsk("rerun") });
  if (run.actions.includes("CANCEL")) actions.push({ keys: "x", says: "Cancel this run…", act: () => onAsk("cancel") });
  if (run.actions.includes("PROMOTE"))
    actions.push({
      keys: null,
      says: "Save as a pipeline…",
      act: () => void navigate({ to: "/pipelines/new", search: { run: run.id } }),
    });
  const { pipeline, rerunOf } = run;
  if (pipeline !== null)
    actions.push({
      keys: "e",
      says: "Edit the pipeline",
      act: () => void navigate({ to: "/pipelines/$pipeline/edit", params: { pipeline: pipeline.key } }),
    });
  if (rerunOf !== null)
    actions.push({
      keys: null,
      says: "Compare with the run before",
      act: () => void navigate({ to: "/runs/compare", search: { a: rerunOf.id, b: run.id } }),
    });
  useActions("This run", actions);
}
