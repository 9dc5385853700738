import { type FormEvent, type ReactNode, useState } from "react";
import { useMutation } from "urql";

import { Button } from "../../components/Button.tsx";
import { Dialog } from "../../components/Dialog.tsx";
import { FormField } from "../../components/FormField.tsx";
import { Notice } from "../../components/Notice.tsx";
import { outcomeOf, type Problem } from "../../lib/server/problem.ts";
import { SecretField } from "./SecretField.tsx";
import { RotateWebhookSecretDocument } from "./triggers.generated.ts";

/** How long the current secret stays valid, in seconds; a week is the longest. */
const OVERLAPS = [
  ["0", "until now"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["604800", "7 days"],
] as const;

interface Props {
  trigger: { id: string; name: string };
  onClose: () => void;
  onRotated: (secret: string) => void;
}

/** Asks how long the current secret of a webhook stays valid, and replaces it. */
export function RotateDialog({ trigger, onClose, onRotated }: Props): ReactNode {
  const [overlap, setOverlap] = useState("86400");
  const [secret, setSecret] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [{ fetching }, rotate] = useMutation(RotateWebhookSecretDocument);

  async function go(event: FormEvent): Promise<void> {
    event.preventDefault();
    const answer = await rotate({ id: trigger.id, secret: secret || null, overlapSeconds: Number(overlap) });
    const { done, refusal } = outcomeOf(answer.error, answer.data?.rotateWebhookSecret, "WebhookSecretSuccess", [
      "secret",
    ]);
    setProblem(refusal);
    if (done !== null) onRotated(done.secret);
  }

  return (
    <Dialog title={`Rotate the secret of “${trigger.name}”`} onClose={onClose}>
      <form noValidate onSubmit={(event) => void go(event)} className="space-y-4">
        <p>
          {overlap === "0"
            ? "Deliveries with the current secret are refused from now on."
            : "Deliveries with the current secret are accepted for a while, so that you can change the sender meanwhile."}
        </p>
        <FormField label="Keep the current secret valid" about="A secret from before an earlier rotation ends now.">
          {(given) => (
            <select {...given} data-autofocus="" value={overlap} onChange={(event) => setOverlap(event.target.value)}>
              {OVERLAPS.map(([seconds, word]) => (
                <option key={seconds} value={seconds}>
                  {word}
                </option>
              ))}
            </select>
          )}
        </FormField>
        <SecretField secret={secret} problem={problem?.fields["secret"]} onChange={setSecret} />
        <Notice problem={problem} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={fetching}>
            Rotate the secret
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
