import { type FormEvent, type ReactNode, useMemo, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { problemsByField } from "../../domain/start/schemaCheck.ts";
import { SchemaForm } from "../../domain/start/SchemaForm.tsx";
import { fieldsOf, textsOf, UnreadableValue } from "../../domain/start/schemaForm.ts";
import { own } from "../../lib/json/untrusted.ts";
import type { Problem } from "../../lib/server/problem.ts";
import type { Read } from "./scheduleForm.ts";
import { isTemplated, templatedInputs } from "./templatedInputs.ts";

export interface Draft<Settings> {
  name: string;
  /** What it fires by. */
  settings: Settings;
  inputs: Record<string, unknown>;
}

export interface Refusal {
  /** Problems with the trigger itself. */
  trigger: Problem;
  /** Problems of single inputs, by name. */
  inputs: Record<string, string>;
}

/** What the form of each kind of trigger takes. */
export interface FormProps<Settings> {
  inputSchema: unknown;
  name: string;
  /** The inputs it has. Undefined for a new trigger. */
  inputs?: unknown;
  word: string;
  onCancel: () => void;
  /** Saves. A returned refusal keeps the form open. */
  onSave: (draft: Draft<Settings>, inputNames: readonly string[]) => Promise<Refusal | null>;
}

interface Props<Settings> extends FormProps<Settings> {
  /** The name that is saved when the field is left empty. */
  usualName: string;
  aboutName: string;
  /** What texts of inputs may contain, each with its meaning. */
  templates: readonly (readonly [template: string, meaning: string])[];
  /** Reads the fields of the kind; problems keep the form open. */
  read: () => Read<Settings>;
  /** Renders the fields of the kind with their problems; `onTouched` clears these. */
  children: (problems: Readonly<Record<string, string>>, onTouched: () => void) => ReactNode;
}

/** Name and inputs of a trigger, below the fields of its kind. */
export function TriggerForm<Settings>({
  inputSchema,
  name,
  inputs: before,
  word,
  onCancel,
  onSave,
  usualName,
  aboutName,
  templates,
  read: readSettings,
  children,
}: Props<Settings>): ReactNode {
  const fields = useMemo(() => fieldsOf(inputSchema), [inputSchema]);
  const [called, setCalled] = useState(name);
  const [texts, setTexts] = useState(() => textsOf(fields, before));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [wrongInputs, setWrongInputs] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);

  function changed(): void {
    setRefusal(null);
    setWrong({});
    setWrongInputs({});
  }

  /** The inputs, or null after showing what is wrong with them. */
  function readInputs(): Record<string, unknown> | null {
    try {
      const values = templatedInputs(fields, texts, before);
      // What a template becomes is known only when it fires.
      const templated = fields.filter((field) => isTemplated(field, own(texts, field.name) ?? ""));
      const names = new Set(templated.map((field) => field.name));
      const problems = Object.entries(problemsByField(inputSchema, values)).filter(
        ([field]) => !names.has(field) && !(own(texts, field) ?? "").includes("${{"),
      );
      setWrongInputs(Object.fromEntries(problems));
      return problems.length === 0 ? values : null;
    } catch (failure) {
      if (!(failure instanceof UnreadableValue)) throw failure;
      setWrongInputs({ [failure.field]: failure.message });
      return null;
    }
  }

  async function save(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (busy) return;
    changed();
    const read = readSettings();
    setWrong(read.problems ?? {});
    const inputs = readInputs();
    if (read.value === null || inputs === null) return;
    setBusy(true);
    const draft = { name: called.trim() || usualName, settings: read.value, inputs };
    try {
      setRefusal(
        await onSave(
          draft,
          fields.map((field) => field.name),
        ),
      );
    } finally {
      setBusy(false);
    }
  }

  const problems = { ...refusal?.trigger.fields, ...wrong };
  const general = wrongInputs[""];
  return (
    <form noValidate onSubmit={(event) => void save(event)} className="max-w-2xl space-y-6">
      {children(problems, changed)}
      <FormField label="Name" optional about={aboutName} problem={problems["name"]}>
        {(attributes) => (
          <input
            {...attributes}
            value={called}
            maxLength={200}
            placeholder={usualName}
            onChange={(event) => {
              changed();
              setCalled(event.target.value);
            }}
          />
        )}
      </FormField>
      <section aria-labelledby="trigger-inputs" className="space-y-3">
        <div>
          <h2 id="trigger-inputs">Inputs</h2>
          {fields.length === 0 ? null : <Templates templates={templates} />}
        </div>
        <SchemaForm
          fields={fields}
          texts={texts}
          problems={{ ...wrongInputs, ...refusal?.inputs }}
          onChange={(field, text) => {
            changed();
            setTexts({ ...texts, [field]: text });
          }}
        />
      </section>
      <Notice
        problem={
          refusal?.trigger ?? (general === undefined ? null : { message: general, hint: null, details: [], fields: {} })
        }
      />
      <div className="flex gap-2">
        <Button type="submit" kind="primary" disabled={busy}>
          {word}
        </Button>
        <Button onClick={onCancel}>Cancel</Button>
      </div>
    </form>
  );
}

function Templates({ templates }: Pick<Props<unknown>, "templates">): ReactNode {
  return (
    <div className="max-w-reading text-meta text-soft">
      <p>Every run gets these. Text may contain:</p>
      <ul className="mt-1 space-y-0.5">
        {templates.map(([template, meaning]) => (
          <li key={template} className="wrap-anywhere">
            <code className="font-mono text-ink">{`\${{ trigger.${template} }}`}</code> {meaning}
          </li>
        ))}
      </ul>
    </div>
  );
}
