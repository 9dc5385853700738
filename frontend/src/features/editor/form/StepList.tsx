import { Copy, GripVertical, Plus, Trash2 } from "lucide-react";
import { type DragEvent, type KeyboardEvent, type ReactNode, useLayoutEffect, useRef, useState } from "react";

import { Button } from "../../../components/Button.tsx";
import { humanise } from "../../../lib/text/format.ts";
import type { StepEntry } from "../definition/definition.ts";
import { issuesAt, type Issue } from "../definition/useCheck.ts";

/** What is selected: a step by its place, or the pipeline's own fields. */
export type At = number | "pipeline";

interface Props {
  steps: readonly StepEntry[];
  at: At;
  issues: readonly Issue[];
  readOnly: boolean;
  onSelect: (at: At) => void;
  onMove: (from: number, to: number) => void;
  onDuplicate: (index: number) => void;
  onRemove: (index: number) => void;
  onAdd: () => void;
}

const ROW = "flex w-full items-center gap-2 rounded px-2 py-1.5 text-left hover:bg-hover pointer-coarse:min-h-11";

/** The steps in order. Arrows select, Alt with an arrow moves, Delete removes. */
export function StepList({
  steps,
  at,
  issues,
  readOnly,
  onSelect,
  onMove,
  onDuplicate,
  onRemove,
  onAdd,
}: Props): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<number | null>(null);
  const [said, setSaid] = useState("");
  const follow = useRef(false);

  // The focus follows a moved step, or goes to the step that replaces a removed one. A layout effect, since a pending
  // passive effect of an earlier render would consume the request.
  useLayoutEffect(() => {
    if (!follow.current || at === "pipeline") return;
    follow.current = false;
    list.current?.querySelectorAll<HTMLElement>("[data-step]")[at]?.focus();
  });

  function move(from: number, to: number): void {
    if (readOnly || to < 0 || to >= steps.length || to === from) return;
    follow.current = true;
    onMove(from, to);
    setSaid(`${humanise(steps[from]?.id ?? "step")} is now step ${to + 1} of ${steps.length}.`);
  }

  function keys(event: KeyboardEvent, index: number): void {
    const by = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (by !== 0 && event.altKey) move(index, index + by);
    else if (by !== 0) {
      const next = index + by;
      if (next < 0 || next >= steps.length) return;
      follow.current = true;
      onSelect(next);
    } else if (event.key === "Delete" && !readOnly) {
      follow.current = true;
      onRemove(index);
    } else return;
    event.preventDefault();
  }

  function drop(event: DragEvent, index: number): void {
    event.preventDefault();
    if (dragged !== null) move(dragged, index);
    setDragged(null);
    setOver(null);
  }

  const general = issues.filter(({ path, severity }) => path[0] !== "steps" && severity === "ERROR").length;
  return (
    <nav aria-label="Parts of the pipeline">
      <button
        type="button"
        aria-current={at === "pipeline" ? "true" : undefined}
        className={`${ROW} mb-2 ${at === "pipeline" ? "bg-accent-tint font-medium text-accent" : ""}`}
        onClick={() => onSelect("pipeline")}
      >
        <span className="flex-1">Name, inputs, metadata</span>
        <Mark errors={general} />
      </button>
      <h2 className="mt-3 mb-1 px-2">Steps</h2>
      <ol ref={list} className="space-y-0.5">
        {steps.map((step, index) => (
          // Dragging is a second way to what its button does with Alt and an arrow.
          // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
          <li
            // A step has no other name than its place: ids may be missing or stand twice.
            // oxlint-disable-next-line react/no-array-index-key
            key={`${index} ${step.id}`}
            className={`group relative flex items-center rounded ${at === index ? "bg-accent-tint" : "hover:bg-hover"} ${over === index && dragged !== index ? "outline-2 outline-accent" : ""}`}
            draggable={!readOnly}
            onDragStart={(event) => {
              event.dataTransfer.effectAllowed = "move";
              setDragged(index);
            }}
            onDragEnd={() => {
              setDragged(null);
              setOver(null);
            }}
            onDragOver={(event) => {
              if (dragged === null) return;
              event.preventDefault();
              setOver(index);
            }}
            onDrop={(event) => drop(event, index)}
          >
            {readOnly ? null : (
              <GripVertical
                aria-hidden="true"
                className="ml-0.5 size-3.5 shrink-0 cursor-grab text-control max-md:hidden"
              />
            )}
            <button
              type="button"
              data-step={step.id}
              aria-current={at === index ? "true" : undefined}
              aria-keyshortcuts={readOnly ? undefined : "Alt+ArrowUp Alt+ArrowDown Delete"}
              className="flex min-w-0 flex-1 items-center gap-2 rounded px-1.5 py-1.5 text-left pointer-coarse:min-h-11"
              onClick={() => onSelect(index)}
              onKeyDown={(event) => keys(event, index)}
            >
              <span className="w-4 shrink-0 text-right text-soft">{index + 1}</span>
              <span className="min-w-0 flex-1">
                <span className={`block truncate ${at === index ? "font-medium text-accent" : ""}`}>
                  {humanise(step.id === "" ? "step" : step.id)}
                </span>
                <span className="block truncate font-mono text-meta text-soft">
                  {step.pack !== "" ? step.pack : "agent" in step.value ? "agent" : "other step"}
                </span>
              </span>
              <Mark errors={issuesAt(issues, ["steps", index]).filter(({ severity }) => severity === "ERROR").length} />
            </button>
            {readOnly || at !== index ? null : (
              <span className="flex shrink-0 pr-1">
                <Small label={`Duplicate ${humanise(step.id)}`} onClick={() => onDuplicate(index)}>
                  <Copy aria-hidden="true" className="size-3.5" />
                </Small>
                <Small label={`Delete ${humanise(step.id)}`} onClick={() => onRemove(index)}>
                  <Trash2 aria-hidden="true" className="size-3.5" />
                </Small>
              </span>
            )}
          </li>
        ))}
      </ol>
      {steps.length === 0 ? <p className="px-2 py-1 text-soft">No steps yet.</p> : null}
      {readOnly ? null : (
        <div className="mt-2 px-2">
          <Button onClick={onAdd}>
            <Plus aria-hidden="true" className="size-4" />
            Add a step
          </Button>
          {steps.length < 2 ? null : (
            <p className="mt-2 text-meta text-soft max-md:hidden">Drag to move, or Alt with ↑ and ↓.</p>
          )}
        </div>
      )}
      <p role="status" className="sr-only">
        {said}
      </p>
    </nav>
  );
}

function Small({ label, onClick, children }: { label: string; onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className="rounded p-1.5 text-soft hover:bg-page hover:text-ink pointer-coarse:p-3"
      onClick={onClick}
    >
      {children}
    </button>
  );
}

function Mark({ errors }: { errors: number }): ReactNode {
  if (errors === 0) return null;
  return (
    <span className="shrink-0 rounded bg-fail-tint px-1.5 text-meta font-medium text-fail">
      {errors}
      <span className="sr-only"> {errors === 1 ? "error" : "errors"}</span>
    </span>
  );
}
