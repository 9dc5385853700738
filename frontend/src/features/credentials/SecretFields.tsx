import type { ReactNode } from "react";

import { Button } from "../../components/Button.tsx";
import { FormField } from "../../components/FormField.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { humanise } from "../../lib/text/format.ts";
import type { CredentialKindPartsFragment } from "./credentials.generated.ts";
import type { Entry } from "./fields.ts";

interface Props {
  kind: CredentialKindPartsFragment;
  texts: Readonly<Record<string, string>>;
  onTexts: (texts: Record<string, string>) => void;
  entries: readonly Entry[];
  onEntries: (entries: Entry[]) => void;
  problems: Readonly<Record<string, string>>;
  /** Names of fields that have a value already: they may stay empty. */
  set?: readonly string[];
}

/** What a kind of credential consists of; what is secret is never shown, not even while it is typed. */
export function SecretFields({ kind, texts, onTexts, entries, onEntries, problems, set = [] }: Props): ReactNode {
  if (kind.freeFields) return <FreeFields entries={entries} onEntries={onEntries} problem={problems["fields"]} />;
  return kind.fields.map((field) => (
    <FormField
      key={field.name}
      label={humanise(field.name)}
      optional={!field.required}
      about={<TextWithCode text={field.description} />}
      problem={problems[field.name]}
    >
      {(given) => {
        const shared = {
          ...given,
          spellCheck: false,
          placeholder: set.includes(field.name) ? "Stored. Leave empty to keep it." : "",
          required: field.required && !set.includes(field.name),
          value: texts[field.name] ?? "",
          onChange: (event: { target: { value: string } }) => onTexts({ ...texts, [field.name]: event.target.value }),
        };
        // A password field would drop the line breaks of a key file.
        return field.multiline ? (
          <textarea
            {...shared}
            rows={4}
            autoComplete="off"
            className={`field font-mono ${field.secret ? "[-webkit-text-security:disc]" : ""}`}
          />
        ) : (
          <input
            {...shared}
            type={field.secret ? "password" : "text"}
            autoComplete={field.secret ? "new-password" : "off"}
          />
        );
      }}
    </FormField>
  ));
}

function FreeFields({
  entries,
  onEntries,
  problem,
}: {
  entries: readonly Entry[];
  onEntries: (entries: Entry[]) => void;
  problem: string | undefined;
}): ReactNode {
  const change = (at: number, part: Partial<Entry>) =>
    onEntries(entries.map((entry, index) => (index === at ? { ...entry, ...part } : entry)));
  return (
    <fieldset>
      <legend className="mb-1 font-medium">Fields</legend>
      <p className="mb-2 text-meta text-soft">
        Names use lowercase letters, digits and `_`. Each secret value has at least 8 characters.
      </p>
      {entries.map((entry, index) => (
        // Rows have no other name than their place.
        // oxlint-disable-next-line react/no-array-index-key
        <div key={index} className="mb-2 flex gap-2">
          <input
            className="field !w-40 font-mono"
            aria-label={`Name of field ${index + 1}`}
            placeholder="token"
            value={entry.name}
            spellCheck={false}
            onChange={(event) => change(index, { name: event.target.value })}
          />
          <input
            className="field"
            type="password"
            autoComplete="new-password"
            aria-label={`Value of field ${index + 1}`}
            value={entry.value}
            onChange={(event) => change(index, { value: event.target.value })}
          />
          {entries.length === 1 ? null : (
            <Button
              kind="quiet"
              aria-label={`Remove field ${index + 1}`}
              onClick={() => onEntries(entries.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      <Button kind="quiet" onClick={() => onEntries([...entries, { name: "", value: "" }])}>
        Another field
      </Button>
      {problem === undefined ? null : (
        <p role="alert" className="mt-1 text-dense text-fail">
          <TextWithCode text={problem} />
        </p>
      )}
    </fieldset>
  );
}
