import { type ReactNode, useState } from "react";

import { bytes } from "../lib/format.ts";
import { escaped } from "../lib/plain.ts";
import { CopyButton } from "./CopyButton.tsx";

interface Shown {
  json: unknown;
  excerpt: string | null;
  truncated: boolean;
  sizeBytes: number;
}

/** Long texts are folded behind this many characters, long lists behind this many rows. */
const TEXT_FOLD = 400;
const ROWS_FOLD = 50;

/** A value that a step got or gave: a tree, or the beginning of what is too long to send. */
export function PayloadView({ payload, empty }: { payload: Shown | null; empty: string }): ReactNode {
  if (payload === null) return <p className="py-4 text-soft">{empty}</p>;
  if (payload.truncated) {
    return (
      <>
        <p className="mb-2 text-soft">The first part of {bytes(payload.sizeBytes)}.</p>
        <Code text={payload.excerpt ?? ""} label="Beginning of the value" />
      </>
    );
  }
  return <JsonView value={payload.json} />;
}

export function JsonView({ value }: { value: unknown }): ReactNode {
  const text = JSON.stringify(value, null, 2);
  return (
    <div className="relative">
      <div className="absolute top-0 right-0">
        <CopyButton text={text} what="value" />
      </div>
      <div className="pr-16 font-mono text-dense">
        <Value value={value} />
      </div>
    </div>
  );
}

/** Containers this deep are folded until somebody opens them. */
const DEPTH_OPEN = 3;

/** A value as a tree whose branches fold. */
export function Value({ value, depth = 0 }: { value: unknown; depth?: number }): ReactNode {
  if (typeof value === "string") return <Text text={value} />;
  if (value === null || typeof value !== "object") return <span className="text-run">{JSON.stringify(value)}</span>;
  const entries = Object.entries(value);
  if (entries.length === 0) return <span className="text-soft">{Array.isArray(value) ? "empty list" : "empty"}</span>;
  return <Rows entries={entries} depth={depth} />;
}

function Rows({ entries, depth }: { entries: [string, unknown][]; depth: number }): ReactNode {
  const [all, setAll] = useState(false);
  const shown = all ? entries : entries.slice(0, ROWS_FOLD);
  return (
    <>
      <dl className="space-y-1">
        {shown.map(([key, value]) => {
          const size = value !== null && typeof value === "object" ? Object.keys(value).length : 0;
          if (size > 0) return <Branch key={key} name={key} value={value} size={size} depth={depth + 1} />;
          return (
            <div key={key} className="flex gap-3">
              <dt className="shrink-0 text-soft">{escaped(key)}</dt>
              <dd className="min-w-0">
                <Value value={value} />
              </dd>
            </div>
          );
        })}
      </dl>
      {shown.length < entries.length ? (
        <button type="button" className="link mt-1" onClick={() => setAll(true)}>
          Show all {entries.length}
        </button>
      ) : null}
    </>
  );
}

function Branch({ name, value, size, depth }: { name: string; value: unknown; size: number; depth: number }): ReactNode {
  const [open, setOpen] = useState(depth <= DEPTH_OPEN);
  return (
    <div>
      <dt>
        <button type="button" aria-expanded={open} className="text-soft hover:text-ink" onClick={() => setOpen(!open)}>
          <span aria-hidden="true">{open ? "▾" : "▸"}</span> {escaped(name)}
          {open ? null : <span className="font-sans text-meta"> · {size}</span>}
        </button>
      </dt>
      {open ? (
        <dd className="mt-1 ml-1.5 border-l border-line pl-3">
          <Value value={value} depth={depth} />
        </dd>
      ) : (
        <dd className="sr-only">folded</dd>
      )}
    </div>
  );
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

export function Code({ text, label }: { text: string; label: string }): ReactNode {
  return (
    // Long lines scroll, and so the box takes focus: a keyboard has to reach what overflows.
    <pre
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      role="region"
      aria-label={label}
      className="max-h-96 overflow-auto rounded border border-line bg-panel p-3 font-mono text-dense whitespace-pre-wrap wrap-anywhere"
      dir="auto"
    >
      {escaped(text)}
    </pre>
  );
}
