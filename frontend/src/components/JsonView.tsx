import { type ReactNode, useMemo, useState } from "react";

import { bytes } from "../lib/text/format.ts";
import { jsonOf } from "../lib/json/untrusted.ts";
import { escaped } from "../lib/text/plain.ts";
import { Code } from "./Code.tsx";
import { CopyButton } from "./CopyButton.tsx";
import { ContentBoundary } from "./ContentBoundary.tsx";
import { useShowMore } from "./useShowMore.tsx";

interface Shown {
  json: unknown;
  text: string | null;
  sizeBytes: number;
}

/** Long texts are folded behind this many characters, long lists behind this many rows. */
const TEXT_FOLD = 400;
const ROWS_FOLD = 50;
const NAME_CUT = 100;
/** Containers this deep are folded until somebody opens them; the higher of the two in values of many parts. */
const DEPTH_OPEN = 3;
const DEPTH_OPEN_OF_MANY = 1;
const MANY = 1000;

/** Input or output of a step: a tree, or the first part of a value too long to send. */
export function PayloadView({ payload, empty }: { payload: Shown | null; empty: string }): ReactNode {
  if (payload === null) return <p className="py-4 text-soft">{empty}</p>;
  if (payload.text !== null) {
    return (
      <>
        <p className="mb-2 text-soft">The first part of {bytes(payload.sizeBytes)}.</p>
        <Code text={payload.text} label="Beginning of the value" />
      </>
    );
  }
  return <JsonView value={payload.json} />;
}

/**
 * A value as a tree; `source` is its text where there is one, as nothing of the value itself can be written when it is
 * too deep.
 */
export function JsonView({
  value,
  what = "The value",
  source = () => jsonOf(value),
}: {
  value: unknown;
  what?: string;
  source?: () => string | null;
}): ReactNode {
  return (
    <ContentBoundary what={what} of={[value]} source={source}>
      <div className="relative">
        <div className="absolute top-0 right-0">
          <CopyButton text={source} what="value" />
        </div>
        <div className="pr-16 font-mono text-dense">
          <Tree value={value} />
        </div>
      </div>
    </ContentBoundary>
  );
}

/** A value as a tree whose branches fold. */
export function Value({ value }: { value: unknown }): ReactNode {
  return (
    <ContentBoundary what="The value" of={[value]} source={() => jsonOf(value)}>
      <Tree value={value} />
    </ContentBoundary>
  );
}

function Tree({ value }: { value: unknown }): ReactNode {
  const openTo = useMemo(() => (isOfMany(value) ? DEPTH_OPEN_OF_MANY : DEPTH_OPEN), [value]);
  return <Node value={value} depth={0} openTo={openTo} />;
}

interface NodeProps {
  value: unknown;
  depth: number;
  /** As deep as containers are open from the start. */
  openTo: number;
}

function Node({ value, depth, openTo }: NodeProps): ReactNode {
  if (typeof value === "string") return <Text text={value} />;
  if (typeof value === "number") return <Number value={value} />;
  if (value === null || typeof value !== "object") return <span className="text-run">{String(value)}</span>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="text-soft">{Array.isArray(value) ? "empty list" : "empty"}</span>;
  return <Rows entries={entries} depth={depth} openTo={openTo} />;
}

/** JavaScript keeps about 16 digits of a number: a number that may have lost digits says so. */
function Number({ value }: { value: number }): ReactNode {
  const exact =
    globalThis.Number.isSafeInteger(value) ||
    (!globalThis.Number.isInteger(value) && globalThis.Number.isFinite(value));
  if (exact) return <span className="text-run">{String(value)}</span>;
  return (
    <span className="text-run" title="The number has more digits than a browser can read. The text shows all of them.">
      about {String(value)}
    </span>
  );
}

/** Whether there are more parts in a value than are drawn at once; found without recursion, as it may be deep. */
function isOfMany(value: unknown): boolean {
  const waiting = [value];
  let parts = 0;
  while (waiting.length > 0) {
    const one = waiting.pop();
    if (one === null || typeof one !== "object") continue;
    const inner = Object.values(one);
    parts += inner.length;
    if (parts > MANY) return true;
    waiting.push(...inner);
  }
  return false;
}

function Rows({ entries, depth, openTo }: Omit<NodeProps, "value"> & { entries: [string, unknown][] }): ReactNode {
  const { shown, more } = useShowMore(entries, ROWS_FOLD);
  return (
    <>
      <dl className="space-y-1">
        {shown.map(([key, value]) => {
          const size = value !== null && typeof value === "object" ? Object.keys(value).length : 0;
          if (size > 0)
            return <Branch key={key} name={key} value={value} size={size} depth={depth + 1} openTo={openTo} />;
          return (
            <div key={key} className="flex gap-3">
              <dt className="shrink-0 text-soft">
                <Name text={key} />
              </dt>
              <dd className="min-w-0">
                <Node value={value} depth={depth} openTo={openTo} />
              </dd>
            </div>
          );
        })}
      </dl>
      {more}
    </>
  );
}

function Branch({ name, value, size, depth, openTo }: NodeProps & { name: string; size: number }): ReactNode {
  const [open, setOpen] = useState(depth <= openTo);
  return (
    <div>
      <dt>
        <button type="button" aria-expanded={open} className="text-soft hover:text-ink" onClick={() => setOpen(!open)}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span> <Name text={name} />
          {open ? null : <span className="font-sans text-meta"> · {size}</span>}
        </button>
      </dt>
      {open ? (
        <dd className="mt-1 ml-1.5 border-l border-line pl-3">
          <Node value={value} depth={depth} openTo={openTo} />
        </dd>
      ) : (
        <dd className="sr-only">folded</dd>
      )}
    </div>
  );
}

/** A key, short enough to fit next to its value. */
function Name({ text }: { text: string }): ReactNode {
  if (text === "") return <span className="font-sans italic">no name</span>;
  return escaped(text.length > NAME_CUT ? `${text.slice(0, NAME_CUT)}…` : text);
}

function Text({ text }: { text: string }): ReactNode {
  const [all, setAll] = useState(false);
  const folded = !all && text.length > TEXT_FOLD;
  return (
    <span className="break-words whitespace-pre-wrap" dir="auto">
      {escaped(folded ? `${text.slice(0, TEXT_FOLD)}… ` : text)}
      {folded ? (
        <button type="button" className="link font-sans" onClick={() => setAll(true)}>
          show all {text.length.toLocaleString()} characters
        </button>
      ) : null}
    </span>
  );
}
