import { type FormEvent, type ReactNode, useMemo, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { problemsByField } from "../../domain/start/schemaCheck.ts";
import { SchemaForm } from "../../domain/start/SchemaForm.tsx";
import { fieldsOf, textsOf, UnreadableValue } from "../../domain/start/schemaForm.ts";
import { scheduleWords } from "../../domain/triggers/scheduleWords.ts";
import { own } from "../../lib/json/untrusted.ts";
import type { Problem } from "../../lib/server/problem.ts";
import { ScheduleFields } from "./ScheduleFields.tsx";
import { isTemplated, scheduleOf, type ScheduleTexts, templatedInputs } from "./scheduleForm.ts";
import type { ScheduleInput } from "./triggers.generated.ts";

export interface Draft {
  name: string;
  schedule: ScheduleInput;
  inputs: Record<string, unknown>;
}

export interface Refusal {
  /** Problems with the trigger itself. */
  trigger: Problem;
  /** Problems of single inputs, by name. */
  inputs: Record<string, string>;
}

interface Props {
  inputSchema: unknown;
  name: string;
  schedule: ScheduleTexts;
  /** The inputs it has. Undefined for a new trigger. */
  inputs?: unknown;
  word: string;
  onCancel: () => void;
  /** Saves. A returned refusal keeps the form open. */
  onSave: (draft: Draft, inputNames: readonly string[]) => Promise<Refusal | null>;
}

/** Name, schedule and inputs of a trigger. */
export function TriggerForm({
  inputSchema,
  name,
  schedule: given,
  inputs: before,
  word,
  onCancel,
  onSave,
}: Props): ReactNode {
  const fields = useMemo(() => fieldsOf(inputSchema), [inputSchema]);
  const [called, setCalled] = useState(name);
  const [schedule, setSchedule] = useState(given);
  const [texts, setTexts] = useState(() => textsOf(fields, before));
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [wrong, setWrong] = useState<Record<string, string>>({});
  const [wrongInputs, setWrongInputs] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const words = scheduleWords({
    cron: schedule.kind === "cron" ? schedule.cron : null,
    intervalSeconds: schedule.kind === "cron" ? null : Number(schedule.every) * Number(schedule.unit) || null,
  });

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
    const read = scheduleOf(schedule);
    setWrong(read.problems ?? {});
    const inputs = readInputs();
    if (read.value === null || inputs === null) return;
    setBusy(true);
    const draft = { name: called.trim() || (words ?? schedule.cron.trim()), schedule: read.value, inputs };
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
      <ScheduleFields
        schedule={schedule}
        words={words}
        problems={problems}
        onChange={(change) => {
          changed();
          setSchedule({ ...schedule, ...change });
        }}
      />
      <FormField
        label="Name"
        optional
        about="Shown in lists, and on the runs it starts. Defaults to the schedule in words."
        problem={problems["name"]}
      >
        {(attributes) => (
          <input
            {...attributes}
            value={called}
            maxLength={200}
            placeholder={words ?? ""}
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
          {fields.length === 0 ? null : (
            <p className="max-w-[72ch] text-meta text-soft">
              Every run gets these. Text may contain{" "}
              <code className="font-mono text-ink">{"${{ trigger.scheduled_at }}"}</code>, the time it was due.
            </p>
          )}
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
