import { type ReactNode, useId, useMemo, useState } from "react";

import { TextWithCode } from "../../components/TextWithCode.tsx";
import { readJson } from "../../lib/json/untrusted.ts";
import { problemsByField } from "./schemaCheck.ts";
import { changedValue, fieldsOf, UnreadableValue, textsOf } from "./schemaForm.ts";
import { SchemaForm } from "./SchemaForm.tsx";

export interface Draft {
  value: unknown;
  /** Whether it differs from what the form began with. */
  changed: boolean;
  /** Whether the text cannot be read as a value. */
  unreadable: boolean;
}

interface Props {
  label: string;
  schema: unknown;
  /** What it begins with. */
  before: unknown;
  /** Notes on fields, such as why a step failed. */
  notes?: Readonly<Record<string, string>>;
  /** The field that has the focus at first; an empty name is the first one. */
  focus?: string | undefined;
  onDraft: (draft: Draft) => void;
}

/** A value that exists, to be changed: as fields by its schema, or the same as JSON. */
export function ValueForm({ label, schema, before, notes = {}, focus, onDraft }: Props): ReactNode {
  const fields = useMemo(() => fieldsOf(schema ?? {}), [schema]);
  const [asJson, setAsJson] = useState(fields.length === 0);
  const [base, setBase] = useState(before);
  const [texts, setTexts] = useState(() => textsOf(fields, before));
  const [json, setJson] = useState(() => JSON.stringify(before, null, 2));
  const [left, setLeft] = useState<ReadonlySet<string>>(new Set());
  const id = useId();

  const read = asJson ? fromJson(json) : fromForm(fields, base, texts);
  const problems = read.wrong !== null ? read.wrong : problemsByField(schema ?? {}, read.value);
  const shown = Object.fromEntries([
    ...Object.entries(notes),
    ...Object.entries(problems).filter(([name]) => read.wrong !== null || left.has(name)),
  ]);

  function tell(value: ReturnType<typeof fromJson>): void {
    onDraft({
      value: value.value,
      unreadable: value.wrong !== null,
      changed: value.wrong === null && JSON.stringify(value.value) !== JSON.stringify(before),
    });
  }

  function turn(): void {
    if (read.wrong !== null) return;
    if (asJson) {
      setBase(read.value);
      setTexts(textsOf(fields, read.value));
    } else setJson(JSON.stringify(read.value, null, 2));
    setAsJson(!asJson);
  }

  const other = Object.entries(shown).filter(([name]) => asJson || !fields.some((field) => field.name === name));
  return (
    <fieldset className="mb-4 min-w-0">
      <div className="mb-2 flex items-baseline justify-between gap-4">
        <legend className="float-left font-medium">{label}</legend>
        {fields.length === 0 ? null : (
          <button type="button" className="link text-dense" disabled={read.wrong !== null} onClick={turn}>
            {asJson ? "As a form" : "As JSON"}
          </button>
        )}
      </div>
      {asJson ? (
        <textarea
          aria-label={label}
          className="field font-mono text-dense"
          rows={Math.min(16, Math.max(4, json.split("\n").length + 1))}
          value={json}
          spellCheck={false}
          data-autofocus={focus === undefined ? undefined : ""}
          aria-invalid={read.wrong !== null}
          aria-describedby={`${id}-wrong`}
          onChange={({ target }) => {
            setJson(target.value);
            setLeft(new Set(fields.map(({ name }) => name)));
            tell(fromJson(target.value));
          }}
        />
      ) : (
        <SchemaForm
          fields={fields}
          texts={texts}
          problems={shown}
          focus={focus === "" ? fields[0]?.name : focus}
          onLeave={(name) => setLeft(new Set([...left, name]))}
          onChange={(name, text) => {
            const next = { ...texts, [name]: text };
            setTexts(next);
            tell(fromForm(fields, base, next));
          }}
        />
      )}
      <div id={`${id}-wrong`} aria-live="polite" className="mt-1 text-dense text-fail">
        {other.map(([name, text]) => (
          <p key={name}>
            <TextWithCode text={name === "" ? text : `${name}: ${text}`} />
          </p>
        ))}
      </div>
    </fieldset>
  );
}

type Read = { value: unknown; wrong: null } | { value: undefined; wrong: Record<string, string> };

function fromJson(text: string): Read {
  const read = readJson(text);
  return read === null
    ? { value: undefined, wrong: { "": 'This is not JSON. Put text in quotes: "text".' } }
    : { value: read.json, wrong: null };
}

function fromForm(fields: ReturnType<typeof fieldsOf>, base: unknown, texts: Readonly<Record<string, string>>): Read {
  try {
    return { value: changedValue(fields, base, texts), wrong: null };
  } catch (failure) {
    if (!(failure instanceof UnreadableValue)) throw failure;
    return { value: undefined, wrong: { [failure.field]: failure.message } };
  }
}
