import { memo, type ReactNode, type UIEvent, useEffect, useLayoutEffect, useRef, useState } from "react";

import { useLatest } from "../../../lib/hooks/useLatest.ts";
import { clockTime, count, humanise } from "../../../lib/text/format.ts";
import { BLOCK, type Level, type Line, type LogLines } from "./LogLines.ts";

const INK: Partial<Record<Level, string>> = { ERROR: "text-fail", WARNING: "text-warn", DEBUG: "text-soft" };
/** This far from the end still counts as being there. */
const AT_END_PX = 24;
/** Blocks this near to what is seen are drawn. */
const NEAR_PX = 400;
/** The height of a line that was never drawn. */
const LINE_PX = 20;

interface Props {
  log: LogLines;
  wrap: boolean;
  /** The number of the line that the address names. */
  selected: number | undefined;
  /** The index to bring into sight; null for none. */
  goal: number | null;
  onReached: () => void;
  /** Whether new lines are followed, which is so while the end is in sight. */
  follow: boolean;
  onFollow: (follow: boolean) => void;
  onLine: (number: number) => void;
}

/** The lines, drawn in blocks of which only those near to what is seen exist. */
export function Lines({ log, wrap, selected, goal, onReached, follow, onFollow, onLine }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState<ReadonlySet<number>>(new Set());
  /** Of blocks that were drawn. */
  const [heights, setHeights] = useState<ReadonlyMap<number, number>>(new Map());
  const shown = log.shown();
  const blocks = Math.ceil(shown.count / BLOCK);
  const latest = useLatest({ log });

  useEffect(() => {
    if (box.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const gone = entries.filter(({ isIntersecting }) => !isIntersecting);
        setHeights(
          (known) =>
            new Map([
              ...known,
              ...gone.map(({ target, boundingClientRect }) => [blockOf(target), boundingClientRect.height] as const),
            ]),
        );
        setNear((known) => {
          const next = new Set(known);
          for (const { target, isIntersecting } of entries) {
            if (isIntersecting) next.add(blockOf(target));
            else next.delete(blockOf(target));
          }
          return next;
        });
        for (const { target, isIntersecting } of entries)
          if (isIntersecting) void latest.current.log.need(blockOf(target));
      },
      { root: box.current, rootMargin: `${NEAR_PX}px 0px` },
    );
    for (let block = 0; block < blocks; block += 1) {
      const element = box.current.querySelector(`[data-block="${block}"]`);
      if (element !== null) observer.observe(element);
    }
    return () => observer.disconnect();
  }, [blocks, latest]);

  // Newly drawn lines may have moved the end, or brought the goal.
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (goal !== null) {
      const row = element.querySelector<HTMLElement>(`[data-index="${goal}"]`);
      const place = row ?? element.querySelector<HTMLElement>(`[data-block="${Math.floor(goal / BLOCK)}"]`);
      if (place === null) return;
      const within = row === null ? ((goal % BLOCK) / BLOCK) * place.clientHeight : place.clientHeight / 2;
      const top = place.getBoundingClientRect().top - element.getBoundingClientRect().top;
      element.scrollTop += top + within - element.clientHeight / 2;
      if (row === null) return;
      // The line of the address is also seen in the panes around the log.
      if (row.querySelector("[aria-current]") !== null) row.scrollIntoView({ block: "nearest" });
      onReached();
    } else if (follow) element.scrollTop = element.scrollHeight;
  });

  function onScroll({ currentTarget: { scrollTop, scrollHeight, clientHeight } }: UIEvent<HTMLElement>): void {
    const there = scrollHeight - scrollTop - clientHeight < AT_END_PX;
    if (goal === null && there !== follow) onFollow(there);
  }

  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-noninteractive-element-interactions -- its links are clicked, Enter clicks them, too
    <div
      ref={box}
      role="log"
      aria-label="Log"
      // What scrolls by is not read out, what is new is.
      aria-live={follow ? "polite" : "off"}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
      tabIndex={0}
      onScroll={onScroll}
      onClick={(event) => {
        const number = (event.target as HTMLElement).closest<HTMLElement>("a[data-number]")?.dataset["number"];
        if (number === undefined || event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        onLine(Number(number));
      }}
      className="max-h-[max(24rem,calc(100svh-24rem))] overflow-auto rounded border border-line bg-panel py-2 font-mono text-dense"
    >
      {Array.from({ length: blocks }, (_nothing, block) => {
        const size = Math.min(BLOCK, shown.count - block * BLOCK);
        const lines = near.has(block)
          ? Array.from({ length: size }, (_none, index) => shown.lineAt(block * BLOCK + index))
          : null;
        const known = lines?.every((line) => line !== undefined) === true;
        return (
          <div
            key={block}
            data-block={block}
            style={known ? undefined : { height: heights.get(block) ?? size * LINE_PX }}
          >
            {known
              ? lines.map((line, index) => (
                  <Row
                    key={line.number}
                    line={line}
                    index={block * BLOCK + index}
                    wrap={wrap}
                    selected={line.number === selected}
                  />
                ))
              : null}
          </div>
        );
      })}
    </div>
  );
}

function blockOf(element: Element): number {
  return Number((element as HTMLElement).dataset["block"]);
}

/** The address of a line of the log that is shown. */
function addressOf(number: number): string {
  const search = new URLSearchParams(location.search);
  search.set("tab", "log");
  search.set("line", String(number));
  return `?${search.toString()}`;
}

const Row = memo(function Row({
  line,
  index,
  wrap,
  selected,
}: {
  line: Line;
  index: number;
  wrap: boolean;
  selected: boolean;
}): ReactNode {
  return (
    <div
      data-index={index}
      className={`flex min-w-fit gap-3 px-3 ${wrap ? "!min-w-0" : ""} ${selected ? "bg-accent-tint shadow-[inset_2px_0_0_var(--accent)]" : ""}`}
    >
      <a
        href={addressOf(line.number)}
        data-number={line.number}
        aria-label={`Line ${line.number}`}
        aria-current={selected ? "location" : undefined}
        className="w-[5ch] shrink-0 text-right text-soft select-none hover:text-accent hover:underline"
      >
        {line.number}
      </a>
      <time dateTime={line.at} className="shrink-0 text-soft">
        {clockTime(line.at)}
      </time>
      <span
        className={`${wrap ? "whitespace-pre-wrap wrap-anywhere" : "whitespace-pre"} ${INK[line.level] ?? ""}`}
        dir="auto"
      >
        {line.level === "ERROR" || line.level === "WARNING" ? `${humanise(line.level.toLowerCase())}: ` : ""}
        <LineText text={line.text} />
      </span>
    </div>
  );
});

/** Characters of a line shown before the reader expands it. */
const SHOWN_CHARACTERS = 10_000;

function LineText({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  if (all || text.length <= SHOWN_CHARACTERS) return text;
  return (
    <>
      {text.slice(0, SHOWN_CHARACTERS)}…{" "}
      <button type="button" className="link font-sans" onClick={() => setAll(true)}>
        show all {count(text.length, "character")}
      </button>
    </>
  );
}
