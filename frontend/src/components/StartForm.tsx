import { type FormEvent, type KeyboardEvent, type ReactNode, useMemo, useState } from "react";

import { fieldsOf, NotReadable, valuesOf } from "../lib/schemaForm.ts";
import { Button } from "./Button.tsx";
import { Notice, type Refusal } from "./Notice.tsx";
import { SchemaForm } from "./SchemaForm.tsx";

interface Props {
  inputSchema: unknown;
  texts: Readonly<Record<string, string>>;
  onTexts: (texts: Record<string, string>) => void;
  /** Starts it; a refusal keeps the form open. */
  onStart: (values: Record<string, unknown>, key: string, fields: readonly string[]) => Promise<Refusal | null>;
  word: string;
}

/** Fields from an input schema and the button that starts; Ctrl-Enter starts, too. */
export function StartForm({ inputSchema, texts, onTexts, onStart, word }: Props): ReactNode {
  const fields = useMemo(() => fieldsOf(inputSchema), [inputSchema]);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const [busy, setBusy] = useState(false);
  // One key per filled form: pressing twice, or again after a lost answer, starts one run.
  const [key, setKey] = useState(newKey);

  async function start(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    if (busy) return;
    try {
      const values = valuesOf(fields, texts);
      setBusy(true);
      setRefusal(await onStart(values, key, fields.map(({ name }) => name)));
    } catch (failure) {
      if (!(failure instanceof NotReadable)) throw failure;
      setRefusal({ message: failure.message, hint: null, details: [], fields: { [failure.field]: failure.message } });
    } finally {
      setBusy(false);
    }
  }

  function keys(event: KeyboardEvent): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void start();
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <form noValidate onSubmit={(event) => void start(event)} onKeyDown={keys} className="max-w-2xl">
      <SchemaForm
        fields={fields}
        texts={texts}
        problems={refusal?.fields ?? {}}
        onChange={(name, text) => {
          onTexts({ ...texts, [name]: text });
          setKey(newKey());
        }}
      />
      <Notice problem={refusal} />
      <div className="mt-5">
        <Button type="submit" kind="primary" disabled={busy} title="Ctrl-Enter">
          {word}
        </Button>
      </div>
    </form>
  );
}

function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}
