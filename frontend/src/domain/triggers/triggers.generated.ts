/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
/** What happens with instants at which no server was running. */
export type CatchUpPolicy =
  /** A run is started for each of the latest ones, up to `catchUpLimit`, one after the other. */
  | 'ALL'
  /** A run is started for the latest one; the others are recorded as missed. */
  | 'LATEST'
  /** They are recorded as missed. */
  | 'NONE';

/** What a firing led to. */
export type FiringOutcome =
  /** The start of the run failed its checks. */
  | 'FAILED'
  /** A run was started. */
  | 'FIRED'
  /** No server was running, or it was too busy. */
  | 'MISSED'
  /** A limit was reached, such as that of a chain of triggers, or Packline paused the trigger. */
  | 'REFUSED'
  /** No run was started, because the last one had not ended. */
  | 'SKIPPED';

/** What happens when a schedule fires while its last run has not ended. */
export type OverlapPolicy =
  /** The last run is cancelled. */
  | 'CANCEL_PREVIOUS'
  /** One run waits for the end of the last one; further ones are skipped. */
  | 'QUEUE'
  /** No run is started. */
  | 'SKIP';

/** The state of a run. SUCCEEDED, FAILED and CANCELLED are final unless the run is resumed. */
export type RunState =
  /** Cancelled before it finished. */
  | 'CANCELLED'
  /** Being cancelled; its steps have not all stopped yet. */
  | 'CANCELLING'
  /** A step failed and is not retried automatically. */
  | 'FAILED'
  /** Accepted, but not started. */
  | 'QUEUED'
  /** A step is running or about to start. */
  | 'RUNNING'
  /** All steps succeeded. */
  | 'SUCCEEDED'
  /** Waiting for a retry, a session or its start time, without occupying a worker. */
  | 'WAITING';

/** Whose runs a trigger fires for when they end. */
export type RunsOf =
  /** The runs of all callers. Its owner needs `observe`, also whenever it fires for another caller's run. */
  | 'ALL'
  /** The runs of the trigger's owner. */
  | 'OWNER';

/** How deliveries of a webhook prove where they come from. */
export type WebhookPreset =
  /** `Authorization: Bearer` and the secret. */
  | 'BEARER'
  /** `X-Hub-Signature-256`: HMAC-SHA256 of the body, as GitHub, Gitea and Forgejo sign. */
  | 'GITHUB'
  /** `webhook-signature`, as the Standard Webhooks specification says. */
  | 'STANDARD_WEBHOOKS'
  /** `Stripe-Signature` or `X-Signature`: `t=` and a time, `v1=` and the HMAC-SHA256 of time, dot and body, as Stripe signs. */
  | 'TIMESTAMPED';

export type SchedulePartsFragment = { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number };

export type RunEndedPartsFragment = { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null };

export type FiringRowFragment = { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null };

export type TriggerRowFragment = { id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, webhook: { preset: WebhookPreset } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null };

export const SchedulePartsFragmentDoc = /*#__PURE__*/ gql`
    fragment ScheduleParts on Schedule {
  cron
  intervalSeconds
  timeZone
  overlap
  catchUp
  catchUpLimit
}
    ` as unknown as DocumentNode<SchedulePartsFragment, unknown>;
export const RunEndedPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment RunEndedParts on RunEnded {
  states
  runsOf
  pipelines {
    id
    name
  }
}
    ` as unknown as DocumentNode<RunEndedPartsFragment, unknown>;
export const FiringRowFragmentDoc = /*#__PURE__*/ gql`
    fragment FiringRow on Firing {
  id
  scheduledAt
  outcome
  reason
  createdAt
  run {
    id
    title
    state
  }
}
    ` as unknown as DocumentNode<FiringRowFragment, unknown>;
export const TriggerRowFragmentDoc = /*#__PURE__*/ gql`
    fragment TriggerRow on Trigger {
  id
  name
  enabled
  attention
  nextAt
  owner {
    id
    name
  }
  pipeline {
    id
    key
    name
  }
  schedule {
    ...ScheduleParts
  }
  webhook {
    preset
  }
  runEnded {
    ...RunEndedParts
  }
  lastFiring {
    ...FiringRow
  }
}
    ` as unknown as DocumentNode<TriggerRowFragment, unknown>;