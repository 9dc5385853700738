import { type FormEvent, type KeyboardEvent, type ReactNode, useMemo, useState } from "react";

import type { Target } from "./copyAs.ts";
import { own } from "../../lib/json/untrusted.ts";
import { prefilled } from "./learned.ts";
import { nearest } from "../../lib/text/nearest.ts";
import { problemsByField } from "./schemaCheck.ts";
import { fieldsOf, UnreadableValue, valuesOf } from "./schemaForm.ts";
import { Button } from "../../components/Button.tsx";
import { CopyAs } from "./CopyAs.tsx";
import { Notice } from "../../components/Notice.tsx";
import type { Problem } from "../../lib/server/problem.ts";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { SchemaForm } from "./SchemaForm.tsx";
import type { Learned, LearnedName } from "./useLearned.ts";

interface Props {
  inputSchema: unknown;
  /** Texts by field, as edited. Memory fills in missing fields. */
  texts: Readonly<Record<string, string>>;
  onTexts: (texts: Record<string, string>) => void;
  /** Starts the run. A returned problem keeps the form open. */
  onStart: (start: Start) => Promise<Problem | null>;
  word: string;
  /** The target, for “Copy as”. */
  target?: Target;
  /** The profile that was chosen for its agent steps. */
  agent?: string | undefined;
  /** Learned values of its inputs. */
  learned: Learned;
  /** Notes next to field names. */
  notes?: Readonly<Record<string, ReactNode>>;
  /** Optional fields to show unfolded. */
  first?: readonly string[];
  /** Shown next to the button. */
  beside?: ReactNode;
}

/** What a form starts with. */
export interface Start {
  values: Record<string, unknown>;
  /** Idempotency key of the start. */
  key: string;
  /** Names of the fields, to which a problem can refer. */
  fields: readonly string[];
  /** Inputs sent unchanged as memory filled them in. */
  fromMemory: LearnedName[];
}

/** Fields from an input schema and the button that starts; Ctrl-Enter starts, too. */
export function StartForm({
  inputSchema,
  texts: typed,
  onTexts,
  onStart,
  word,
  target,
  agent,
  learned,
  notes,
  first,
  beside,
}: Props): ReactNode {
  const fields = useMemo(() => fieldsOf(inputSchema), [inputSchema]);
  const filled = prefilled(fields, typed, learned.usual);
  const texts = { ...typed, ...Object.fromEntries(Object.entries(filled).map(([name, { value }]) => [name, value])) };
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  // A field shows its problem once it lost the focus; after an attempt to start, all fields do.
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const [tried, setTried] = useState(false);
  // One key per filled form: pressing twice, or again after a lost answer, starts one run.
  const [key, setKey] = useState(newKey);

  const read = readable(fields, texts);
  const wrong = read.values === null ? read.problems : problemsByField(inputSchema, read.values);
  const shownProblems = Object.fromEntries(
    Object.entries(wrong).filter(([name]) => tried || (left.has(name) && (own(texts, name) ?? "") !== "")),
  );

  async function start(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    if (busy) return;
    setTried(true);
    setRefusal(null);
    if (read.values === null || Object.keys(wrong).length > 0) {
      focusFirst(fields.find(({ name }) => own(wrong, name) !== undefined)?.name);
      return;
    }
    setBusy(true);
    try {
      setRefusal(
        await onStart({
          values: read.values,
          key,
          fields: fields.map(({ name }) => name),
          fromMemory: Object.values(filled).map(({ field }) => field),
        }),
      );
    } finally {
      setBusy(false);
    }
  }

  function change(name: string, text: string): void {
    onTexts({ ...typed, [name]: text });
    setRefusal(null);
    setKey(newKey());
  }

  function keys(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form noValidate onSubmit={(event) => void start(event)} onKeyDown={keys} className="max-w-2xl">
      <Strangers fields={fields} texts={typed} />
      <SchemaForm
        fields={fields}
        texts={texts}
        notes={notes}
        first={first}
        problems={{ ...shownProblems, ...refusal?.fields }}
        onLeave={(name) => setLeft(new Set([...left, name]))}
        onChange={change}
        filled={filled}
        onClear={(name) => change(name, "")}
        onNever={(name) => {
          const usual = own(filled, name);
          if (usual === undefined) return;
          change(name, "");
          learned.never(usual.field);
        }}
      />
      <Notice problem={learned.refusal} />
      <Notice
        problem={
          refusal ??
          (shownProblems[""] === undefined ? null : { message: shownProblems[""], hint: null, details: [], fields: {} })
        }
      />
      <div className="mt-5 flex flex-wrap gap-2">
        <Button type="submit" kind="primary" disabled={busy} title="Ctrl-Enter">
          {word}
        </Button>
        {beside}
      </div>
      {target === undefined ? null : (
        <CopyAs
          target={target}
          given={{ inputs: read.values ?? {}, fromMemory: Object.values(filled).map(({ field }) => field), agent }}
        />
      )}
    </form>
  );
}

/** Names values, such as from a link, for inputs that do not exist. */
function Strangers({
  fields,
  texts,
}: {
  fields: ReturnType<typeof fieldsOf>;
  texts: Readonly<Record<string, string>>;
}): ReactNode {
  const known = fields.map(({ name }) => name);
  const strange = Object.entries(texts).flatMap(([name, text]) => (text === "" || known.includes(name) ? [] : [name]));
  if (strange.length === 0) return null;
  return (
    <div role="status" className="my-3 rounded border-l-2 border-warn bg-warn-tint px-3 py-2">
      {strange.map((name) => {
        const meant = nearest(name, known);
        return (
          <p key={name} className="wrap-anywhere">
            <TextWithCode
              text={`There is no input \`${name.replaceAll("`", "")}\`${meant === null ? "." : `; did you mean \`${meant}\`?`} Its value is ignored.`}
            />
          </p>
        );
      })}
    </div>
  );
}

function readable(fields: ReturnType<typeof fieldsOf>, texts: Readonly<Record<string, string>>) {
  try {
    return { values: valuesOf(fields, texts), problems: {} };
  } catch (failure) {
    if (!(failure instanceof UnreadableValue)) throw failure;
    return { values: null, problems: { [failure.field]: failure.message } as Record<string, string> };
  }
}

function focusFirst(name: string | undefined): void {
  if (name !== undefined) document.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`)?.focus();
}

function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
