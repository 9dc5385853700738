import type { WebhookPreset } from "./triggers.generated.ts";

interface Preset {
  word: string;
  /** How a delivery proves where it comes from. Text in backticks is code, as in the other texts. */
  sentence: string;
  /** Which names of events count, and what happens without any. */
  events: string;
  /** An event that such senders have. */
  event: string;
  /** A path into the payload of such an event. */
  path: string;
}

/** Kinds of senders, by how they sign. */
export const PRESETS: Record<WebhookPreset, Preset> = {
  GITHUB: {
    word: "GitHub",
    sentence: "GitHub, Gitea and Forgejo sign the body with the secret, in `X-Hub-Signature-256`.",
    events: "Names of GitHub's events, one per line. Leave it empty for all but `ping`.",
    event: "push",
    path: "repository.full_name",
  },
  STANDARD_WEBHOOKS: {
    word: "Standard Webhooks",
    sentence: "The sender signs with `webhook-signature`, as the Standard Webhooks specification says.",
    events: "Values of `type` in the payload, one per line. Leave it empty for all.",
    event: "user.created",
    path: "data.id",
  },
  TIMESTAMPED: {
    word: "Stripe-style signature",
    sentence: "The sender signs the time and the body, in `Stripe-Signature` or `X-Signature`.",
    events: "Values of `type` in the payload, one per line. Leave it empty for all.",
    event: "invoice.paid",
    path: "data.object.id",
  },
  BEARER: {
    word: "Bearer secret",
    sentence:
      "The sender puts the secret into the header `Authorization: Bearer`. Use it for scripts that do not sign.",
    events: "Values of the header `X-Event`, or of `type` in the payload, one per line. Leave it empty for all.",
    event: "build.finished",
    path: "url",
  },
};

/** A webhook in words: that it is one, and who sends to it. */
export function webhookWords(preset: WebhookPreset): string {
  return `Webhook · ${PRESETS[preset].word}`;
}
