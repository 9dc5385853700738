import { type ReactNode, useMemo, useState } from "react";

import { count } from "../lib/text/format.ts";
import { countChanges, folded, type Line, lineDiff, type Shown, sideBySide } from "../lib/text/lineDiff.ts";
import { usePhone } from "../lib/browser/usePhone.ts";
import { ContentBoundary } from "./ContentBoundary.tsx";
import { useShowMore } from "./useShowMore.tsx";

interface Props {
  before: string;
  after: string;
  /** Names of the two texts, such as `version 3`. */
  names: readonly [string, string];
  split?: boolean;
}

const TINTS = { same: "", added: "bg-ok-tint", removed: "bg-fail-tint" } as const;
const MARKS = { same: " ", added: "+", removed: "−" } as const;
const SAID = { same: "", added: "added: ", removed: "removed: " } as const;

/** Two texts and what differs: one under the other, or side by side where there is room. */
export function DiffView(props: Props): ReactNode {
  const { before, after, names } = props;
  return (
    <ContentBoundary
      what={`What differs between ${names[0]} and ${names[1]}`}
      of={[before, after]}
      source={() => `${before}\n\n${after}`}
    >
      <Compared {...props} />
    </ContentBoundary>
  );
}

/** Rows rendered per batch. */
const ROWS = 1000;

function Compared({ before, after, names, split = false }: Props): ReactNode {
  const lines = useMemo(() => lineDiff(before, after), [before, after]);
  const [all, setAll] = useState(false);
  const isPhone = usePhone();
  const { added, removed } = countChanges(lines);
  const rows = useMemo(() => (all ? lines : folded(lines)), [all, lines]);
  const { shown, more } = useShowMore<Shown>(rows, ROWS);
  if (added + removed === 0) return <p className="text-soft">Nothing differs.</p>;
  const unfold = (): void => setAll(true);
  return (
    <div>
      <p className="mb-2 font-sans text-dense text-soft">
        From {names[0]} to {names[1]}: {count(added, "line")} added, {count(removed, "line")} removed.
      </p>
      {/* Long lines scroll, and so the box takes focus. */}
      <div
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        role="region"
        aria-label={`What differs between ${names[0]} and ${names[1]}`}
        className="max-h-[70vh] overflow-auto rounded border border-line font-mono text-meta"
      >
        {split && !isPhone ? (
          <Split shown={shown} onUnfold={unfold} names={names} />
        ) : (
          <>
            {split ? <Legend names={names} /> : null}
            <Unified shown={shown} onUnfold={unfold} />
          </>
        )}
        {more}
      </div>
    </div>
  );
}

/** Which text the marks of the lines belong to. */
function Legend({ names }: { names: Props["names"] }): ReactNode {
  return (
    <p className="border-b border-line px-2 py-1 text-soft wrap-anywhere">
      {MARKS.removed} {names[0]}
      <br />
      {MARKS.added} {names[1]}
    </p>
  );
}

interface Rows {
  shown: readonly Shown[];
  onUnfold: () => void;
  names: Props["names"];
}

function Unified({ shown, onUnfold }: Omit<Rows, "names">): ReactNode {
  return (
    <table className="w-full border-collapse">
      <tbody>
        {shown.map((line, index) =>
          typeof line === "number" ? (
            // Lines have no other name than their place.
            // oxlint-disable-next-line react/no-array-index-key
            <Left key={`left ${index}`} lines={line} columns={3} onUnfold={onUnfold} />
          ) : (
            <tr key={`${line.old} ${line.now}`} className={TINTS[line.kind]}>
              <Number value={line.old} />
              <Number value={line.now} />
              <Text line={line} />
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Split({ shown, onUnfold, names }: Rows): ReactNode {
  return (
    <table className="w-full table-fixed border-collapse">
      <thead>
        <tr className="border-b border-line text-left text-soft [&>th]:px-2 [&>th]:py-1 [&>th]:font-medium">
          <th colSpan={2}>{names[0]}</th>
          <th colSpan={2} className="border-l border-line">
            {names[1]}
          </th>
        </tr>
      </thead>
      <colgroup>
        <col className="w-10" />
        <col />
        <col className="w-10" />
        <col />
      </colgroup>
      <tbody>
        {sideBySide(shown).map((row, index) =>
          typeof row === "number" ? (
            // oxlint-disable-next-line react/no-array-index-key
            <Left key={`left ${index}`} lines={row} columns={4} onUnfold={onUnfold} />
          ) : (
            // oxlint-disable-next-line react/no-array-index-key
            <tr key={index}>
              {row.map((line, side) =>
                line === null ? (
                  // oxlint-disable-next-line react/no-array-index-key, jsx-a11y/control-has-associated-label
                  <td key={side} colSpan={2} className={`bg-panel ${side === 1 ? "border-l border-line" : ""}`} />
                ) : (
                  // oxlint-disable-next-line react/no-array-index-key
                  <Half key={side} line={line} value={side === 0 ? line.old : line.now} right={side === 1} />
                ),
              )}
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function Half({ line, value, right }: { line: Line; value: number | null; right: boolean }): ReactNode {
  return (
    <>
      <Number value={value} className={`${TINTS[line.kind]} ${right ? "border-l border-line" : ""}`} />
      <Text line={line} className={TINTS[line.kind]} />
    </>
  );
}

function Number({ value, className = "" }: { value: number | null; className?: string }): ReactNode {
  return <td className={`w-10 px-2 text-right align-top text-soft select-none ${className}`}>{value}</td>;
}

function Text({ line, className = "" }: { line: Line; className?: string }): ReactNode {
  return (
    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell of text
    <td className={`pr-2 align-top ${className}`}>
      <span className="grid grid-cols-[1.25rem_1fr]" dir="auto">
        <span aria-hidden="true" className="text-soft select-none">
          {MARKS[line.kind]}
        </span>
        <span className="whitespace-pre-wrap wrap-anywhere">
          <span className="sr-only">{SAID[line.kind]}</span>
          {line.parts.map(({ text, changed }, index) =>
            changed ? (
              // oxlint-disable-next-line react/no-array-index-key
              <strong
                key={index}
                className={`font-semibold underline underline-offset-2 ${line.kind === "added" ? "text-ok" : "text-fail"}`}
              >
                {text}
              </strong>
            ) : (
              text
            ),
          )}
        </span>
      </span>
    </td>
  );
}

function Left({ lines, columns, onUnfold }: { lines: number; columns: number; onUnfold: () => void }): ReactNode {
  return (
    <tr className="bg-panel">
      <td colSpan={columns} className="border-y border-line px-2 py-0.5">
        <button type="button" className="link font-sans" onClick={onUnfold}>
          Show {count(lines, "line")} that stayed as {lines === 1 ? "it was" : "they were"}
        </button>
      </td>
    </tr>
  );
}
