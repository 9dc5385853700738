import { type ReactNode, useState } from "react";

import { FormField } from "../../components/FormField.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { PRESETS, webhookWords } from "../../domain/triggers/presets.ts";
import { SecretField } from "./SecretField.tsx";
import { type FormProps, TriggerForm } from "./TriggerForm.tsx";
import type { WebhookPreset } from "./triggers.generated.ts";

export interface WebhookSettings {
  preset: WebhookPreset;
  /** Empty for all. */
  events: string[];
  /** Null lets Packline make it, or keeps the present one. */
  secret: string | null;
}

interface Props extends FormProps<WebhookSettings> {
  /** What it is saved with. Null for a new one. */
  webhook: { preset: WebhookPreset; events: readonly string[] } | null;
}

/** A webhook with its name and inputs. Its preset cannot be changed, and its secret only by a rotation. */
export function WebhookForm({ webhook, ...rest }: Props): ReactNode {
  const [preset, setPreset] = useState<WebhookPreset>(webhook?.preset ?? "GITHUB");
  const [events, setEvents] = useState(webhook?.events.join("\n") ?? "");
  const [secret, setSecret] = useState("");
  const { sentence, events: aboutEvents, event: exampleEvent, path } = PRESETS[preset];
  return (
    <TriggerForm
      {...rest}
      usualName={webhookWords(preset)}
      aboutName="Shown in lists, and on the runs it starts."
      templates={[
        [`payload.${path}`, "a value of the payload, by its path"],
        ["event", "the name of the event"],
        ["delivery_id", "the sender's id of the delivery"],
        ["received_at", "the time it was received"],
      ]}
      read={() => ({ value: { preset, events: eventsOf(events), secret: secret || null }, problems: null })}
    >
      {(problems, onTouched) => (
        <div className="space-y-4">
          {webhook === null ? (
            <FormField label="Sender" about={<TextWithCode text={sentence} />} problem={problems["preset"]}>
              {(given) => (
                <select
                  {...given}
                  value={preset}
                  onChange={(change) => {
                    onTouched();
                    setPreset(change.target.value as WebhookPreset);
                  }}
                >
                  {Object.entries(PRESETS).map(([value, { word }]) => (
                    <option key={value} value={value}>
                      {word}
                    </option>
                  ))}
                </select>
              )}
            </FormField>
          ) : (
            <p className="max-w-reading">
              <span className="font-medium">{PRESETS[preset].word}.</span> <TextWithCode text={sentence} />{" "}
              <span className="text-soft">To change the sender, add another webhook.</span>
            </p>
          )}
          <FormField label="Events" optional about={<TextWithCode text={aboutEvents} />} problem={problems["events"]}>
            {(given) => (
              <textarea
                {...given}
                className={`${given.className} font-mono !text-dense`}
                rows={3}
                spellCheck={false}
                placeholder={exampleEvent}
                value={events}
                onChange={(change) => {
                  onTouched();
                  setEvents(change.target.value);
                }}
              />
            )}
          </FormField>
          {webhook === null ? (
            <SecretField
              secret={secret}
              problem={problems["secret"]}
              onChange={(typed) => {
                onTouched();
                setSecret(typed);
              }}
            />
          ) : null}
        </div>
      )}
    </TriggerForm>
  );
}

/** Names of events, one per line; each once. */
export function eventsOf(text: string): string[] {
  const names = text.split("\n").map((line) => line.trim());
  return [...new Set(names.filter((name) => name !== ""))];
}
