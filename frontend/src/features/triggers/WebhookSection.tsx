import { type ReactNode, useState } from "react";

import { Button } from "../../components/Button.tsx";
import { Section } from "../../components/Page.tsx";
import { TextWithCode } from "../../components/TextWithCode.tsx";
import { Timestamp } from "../../components/Timestamp.tsx";
import { PRESETS } from "../../domain/triggers/presets.ts";
import { Fact, Facts } from "./Facts.tsx";
import { RotateDialog } from "./RotateDialog.tsx";
import { Copyable, SecretOnce } from "./SecretOnce.tsx";
import type { TriggerWholeFragment } from "./triggers.generated.ts";
import { webhookAddress } from "./webhookAddress.ts";

interface Props {
  trigger: Pick<TriggerWholeFragment, "id" | "name">;
  webhook: NonNullable<TriggerWholeFragment["webhook"]>;
  /** Whether the caller may change it. */
  may: boolean;
}

/** Where deliveries go and how they are verified. The secret shows only when it is made. */
export function WebhookSection({ trigger, webhook, may }: Props): ReactNode {
  const { url, preset, events, previousSecretUntil } = webhook;
  const [rotating, setRotating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  return (
    <Section title="Webhook">
      {secret === null ? null : (
        <SecretOnce title="The secret is rotated." url={null} secret={secret} onDone={() => setSecret(null)} />
      )}
      <Facts>
        <Fact term="URL">
          <Copyable text={webhookAddress(url)} what="URL" />
        </Fact>
        <Fact term="Sender">
          {PRESETS[preset].word}
          <p className="text-meta text-soft">
            <TextWithCode text={PRESETS[preset].sentence} />
          </p>
        </Fact>
        <Fact term="Events">
          {events.length === 0 ? (
            preset === "GITHUB" ? (
              <TextWithCode text="all but `ping`" />
            ) : (
              "all"
            )
          ) : (
            events.join(", ")
          )}
        </Fact>
        <Fact term="Secret">
          Shown only when it is made.
          {previousSecretUntil === null ? null : (
            <>
              {" "}
              The one before it is valid until <Timestamp at={previousSecretUntil} />.
            </>
          )}
          {may ? (
            <div className="mt-1.5">
              <Button onClick={() => setRotating(true)}>Rotate…</Button>
            </div>
          ) : null}
        </Fact>
      </Facts>
      {rotating ? (
        <RotateDialog
          trigger={trigger}
          onClose={() => setRotating(false)}
          onRotated={(made) => {
            setRotating(false);
            setSecret(made);
          }}
        />
      ) : null}
    </Section>
  );
}
