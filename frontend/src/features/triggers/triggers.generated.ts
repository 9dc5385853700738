/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { FiringRowFragmentDoc, RunEndedPartsFragmentDoc, SchedulePartsFragmentDoc, TriggerRowFragmentDoc } from '../../domain/triggers/triggers.generated.ts';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
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

/** Reasons for refusing a command. Errors during a run have a FailureCode instead. */
export type ProblemCode =
  /** The object was changed since the caller read it, is read-only, or the key is taken. */
  | 'CONFLICT'
  /** The caller is not allowed to do this. */
  | 'FORBIDDEN'
  /** The input is invalid; see `issues`. */
  | 'INVALID'
  /** A limit has been reached. */
  | 'LIMITED'
  /** The object does not exist, or the caller may not see it. */
  | 'NOT_FOUND'
  /** A required pack, credential, service, model or session is not available on this server. */
  | 'UNAVAILABLE'
  /** The run's state does not allow it. */
  | 'WRONG_STATE';

/** Kinds of things that an entry or step can require. */
export type RequirementKind =
  /** An agent profile. */
  | 'AGENT_PROFILE'
  /** A credential that is stored and granted. */
  | 'CREDENTIAL'
  /** A run input. */
  | 'INPUT'
  /** A sandbox with the required isolation. */
  | 'ISOLATION'
  /** A model or model role. */
  | 'MODEL'
  /** A pack, in a version that the step accepts. */
  | 'PACK'
  /** An external service or program. */
  | 'SERVICE'
  /** A pack that leaves or keeps a session. */
  | 'SESSION';

/** Which runs a trigger fires for when they end. Runs of its own pipeline never fire it. */
export type RunEndedInput = {
  /** Ids, keys or aliases of their pipelines, at most 50. Defaults to all but the one that the trigger starts. */
  pipelines?: Array<string> | null | undefined;
  /** Whose they are. `ALL` needs `observe`. */
  runsOf?: RunsOf;
  /** How they end: `SUCCEEDED`, `FAILED` or `CANCELLED`. */
  states: Array<RunState>;
};

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

/** When a trigger fires: by a cron expression, or at an interval. */
export type ScheduleInput = {
  /** What happens with instants at which no server was running. */
  catchUp?: CatchUpPolicy;
  /** Most missed instants that `ALL` starts runs for; 1 to 100. */
  catchUpLimit?: number;
  /** Cron expression: five fields, six with seconds first, or `@yearly`, `@monthly`, `@weekly`, `@daily` or `@hourly`. */
  cron?: string | null | undefined;
  /** Seconds between firings, at least 1. */
  intervalSeconds?: number | null | undefined;
  /** What happens when the last run has not ended. */
  overlap?: OverlapPolicy;
  /** IANA name of the time zone of the cron expression. */
  timeZone?: string;
};

/** What a token allows its caller to do. */
export type Scope =
  /** Full access for administrators: credentials, callers, settings, audit. Includes all other scopes. */
  | 'MANAGE'
  /** Read the runs, artifacts and transcripts of all callers. Includes READ. */
  | 'OBSERVE'
  /** Read the catalog, pipelines, and the caller's own runs, artifacts and memory. */
  | 'READ'
  /** Start, resume, re-run and cancel runs; change the caller's own defaults. */
  | 'RUN'
  /** Create, change, copy and delete pipelines; save gap proposals; delete runs. */
  | 'WRITE';

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

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

export type TriggersQueryVariables = Exact<{
  pipeline?: string | null | undefined;
  needsAttention?: boolean | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type TriggersQuery = { triggers: { totalCount: number, nodes: Array<{ id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, webhook: { preset: WebhookPreset } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type TriggerPipelinesQueryVariables = Exact<{ [key: string]: never; }>;


export type TriggerPipelinesQuery = { pipelines: { nodes: Array<{ id: string, key: string, name: string, availability: { usable: boolean } }> } };

export type TriggerWholeFragment = { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null };

export type DeliveredFiringFragment = { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, endedRun: { id: string, title: string } | null, delivery: { deliveryId: string | null, event: string | null, payload?: string | null, isCut: boolean, sizeBytes: number, keptUntil: string } | null, run: { id: string, title: string, state: RunState } | null };

export type TriggerPageQueryVariables = Exact<{
  id: string;
  payloads: boolean;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type TriggerPageQuery = { viewer: { id: string, scopes: Array<Scope> }, trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, firings: { nodes: Array<{ id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, endedRun: { id: string, title: string } | null, delivery: { deliveryId: string | null, event: string | null, payload?: string | null, isCut: boolean, sizeBytes: number, keptUntil: string } | null, run: { id: string, title: string, state: RunState } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } | null };

export type TriggerToEditQueryVariables = Exact<{
  id: string;
}>;


export type TriggerToEditQuery = { trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, pipeline: { id: string, key: string, name: string, inputSchema: unknown } | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } | null };

export type TriggerTargetQueryVariables = Exact<{
  pipeline: string;
}>;


export type TriggerTargetQuery = { pipeline: { id: string, key: string, name: string, inputSchema: unknown } | null };

export type SchedulePreviewQueryVariables = Exact<{
  schedule: ScheduleInput;
}>;


export type SchedulePreviewQuery = { previewSchedule: { nextFirings: Array<string>, issues: Array<{ message: string, hint: string | null }> } };

export type CreateTriggerMutationVariables = Exact<{
  pipeline: string;
  name: string;
  schedule?: ScheduleInput | null | undefined;
  runEnded?: RunEndedInput | null | undefined;
  inputs?: unknown;
}>;


export type CreateTriggerMutation = { createTrigger:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'TriggerSuccess', trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type UpdateTriggerMutationVariables = Exact<{
  id: string;
  name?: string | null | undefined;
  schedule?: ScheduleInput | null | undefined;
  runEnded?: RunEndedInput | null | undefined;
  inputs?: unknown;
}>;


export type UpdateTriggerMutation = { updateTrigger:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'TriggerSuccess', trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type PauseTriggerMutationVariables = Exact<{
  id: string;
}>;


export type PauseTriggerMutation = { pauseTrigger:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'TriggerSuccess', trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
   | null };

export type ResumeTriggerMutationVariables = Exact<{
  id: string;
}>;


export type ResumeTriggerMutation = { resumeTrigger:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'TriggerSuccess', trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type FireTriggerMutationVariables = Exact<{
  id: string;
}>;


export type FireTriggerMutation = { fireTrigger:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'FireTriggerSuccess', run: { id: string } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type DeleteTriggerMutationVariables = Exact<{
  id: string;
}>;


export type DeleteTriggerMutation = { deleteTrigger:
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type CreateWebhookMutationVariables = Exact<{
  pipeline: string;
  name: string;
  preset: WebhookPreset;
  events?: Array<string> | string | null | undefined;
  inputs?: unknown;
  secret?: string | null | undefined;
}>;


export type CreateWebhookMutation = { createWebhook:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'WebhookSecretSuccess', secret: string, trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
   | null };

export type UpdateWebhookMutationVariables = Exact<{
  id: string;
  events: Array<string> | string;
}>;


export type UpdateWebhookMutation = { updateWebhook:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'TriggerSuccess', trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type RotateWebhookSecretMutationVariables = Exact<{
  id: string;
  secret?: string | null | undefined;
  overlapSeconds: number;
}>;


export type RotateWebhookSecretMutation = { rotateWebhookSecret:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'WebhookSecretSuccess', secret: string, trigger: { version: number | null, inputs: unknown, createdAt: string, updatedAt: string, nextFirings: Array<string>, id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, webhook: { url: string, preset: WebhookPreset, events: Array<string>, previousSecretUntil: string | null } | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null } }
   | null };

export type ReplayFiringMutationVariables = Exact<{
  id: string;
}>;


export type ReplayFiringMutation = { replayFiring:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'FireTriggerSuccess', run: { id: string } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const TriggerWholeFragmentDoc = /*#__PURE__*/ gql`
    fragment TriggerWhole on Trigger {
  ...TriggerRow
  version
  inputs
  createdAt
  updatedAt
  nextFirings(count: 5)
  webhook {
    url
    preset
    events
    previousSecretUntil
  }
}
    ` as unknown as DocumentNode<TriggerWholeFragment, unknown>;
export const DeliveredFiringFragmentDoc = /*#__PURE__*/ gql`
    fragment DeliveredFiring on Firing {
  ...FiringRow
  endedRun {
    id
    title
  }
  delivery {
    deliveryId
    event
    payload @include(if: $payloads)
    isCut
    sizeBytes
    keptUntil
  }
}
    ` as unknown as DocumentNode<DeliveredFiringFragment, unknown>;
export const TriggersDocument = /*#__PURE__*/ gql`
    query Triggers($pipeline: ID, $needsAttention: Boolean, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  triggers(
    pipeline: $pipeline
    needsAttention: $needsAttention
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      ...TriggerRow
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    ${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<TriggersQuery, TriggersQueryVariables>;
export const TriggerPipelinesDocument = /*#__PURE__*/ gql`
    query TriggerPipelines {
  pipelines(first: 100, orderBy: NAME) {
    nodes {
      id
      key
      name
      availability {
        usable
      }
    }
  }
}
    ` as unknown as DocumentNode<TriggerPipelinesQuery, TriggerPipelinesQueryVariables>;
export const TriggerPageDocument = /*#__PURE__*/ gql`
    query TriggerPage($id: ID!, $payloads: Boolean!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  viewer {
    id
    scopes
  }
  trigger(id: $id) {
    ...TriggerWhole
    firings(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        ...DeliveredFiring
      }
      pageInfo {
        hasNextPage
        hasPreviousPage
        startCursor
        endCursor
      }
    }
  }
}
    ${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}
${DeliveredFiringFragmentDoc}` as unknown as DocumentNode<TriggerPageQuery, TriggerPageQueryVariables>;
export const TriggerToEditDocument = /*#__PURE__*/ gql`
    query TriggerToEdit($id: ID!) {
  trigger(id: $id) {
    ...TriggerWhole
    pipeline {
      id
      key
      name
      inputSchema
    }
  }
}
    ${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<TriggerToEditQuery, TriggerToEditQueryVariables>;
export const TriggerTargetDocument = /*#__PURE__*/ gql`
    query TriggerTarget($pipeline: ID!) {
  pipeline(id: $pipeline) {
    id
    key
    name
    inputSchema
  }
}
    ` as unknown as DocumentNode<TriggerTargetQuery, TriggerTargetQueryVariables>;
export const SchedulePreviewDocument = /*#__PURE__*/ gql`
    query SchedulePreview($schedule: ScheduleInput!) {
  previewSchedule(schedule: $schedule, count: 5) {
    nextFirings
    issues {
      message
      hint
    }
  }
}
    ` as unknown as DocumentNode<SchedulePreviewQuery, SchedulePreviewQueryVariables>;
export const CreateTriggerDocument = /*#__PURE__*/ gql`
    mutation CreateTrigger($pipeline: ID!, $name: String!, $schedule: ScheduleInput, $runEnded: RunEndedInput, $inputs: JSON) {
  createTrigger(
    pipeline: $pipeline
    name: $name
    schedule: $schedule
    runEnded: $runEnded
    inputs: $inputs
  ) {
    __typename
    ...ProblemParts
    ... on TriggerSuccess {
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<CreateTriggerMutation, CreateTriggerMutationVariables>;
export const UpdateTriggerDocument = /*#__PURE__*/ gql`
    mutation UpdateTrigger($id: ID!, $name: String, $schedule: ScheduleInput, $runEnded: RunEndedInput, $inputs: JSON) {
  updateTrigger(
    id: $id
    name: $name
    schedule: $schedule
    runEnded: $runEnded
    inputs: $inputs
  ) {
    __typename
    ...ProblemParts
    ... on TriggerSuccess {
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<UpdateTriggerMutation, UpdateTriggerMutationVariables>;
export const PauseTriggerDocument = /*#__PURE__*/ gql`
    mutation PauseTrigger($id: ID!) {
  pauseTrigger(id: $id) {
    __typename
    ...ProblemParts
    ... on TriggerSuccess {
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<PauseTriggerMutation, PauseTriggerMutationVariables>;
export const ResumeTriggerDocument = /*#__PURE__*/ gql`
    mutation ResumeTrigger($id: ID!) {
  resumeTrigger(id: $id) {
    __typename
    ...ProblemParts
    ... on TriggerSuccess {
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<ResumeTriggerMutation, ResumeTriggerMutationVariables>;
export const FireTriggerDocument = /*#__PURE__*/ gql`
    mutation FireTrigger($id: ID!) {
  fireTrigger(id: $id) {
    __typename
    ...ProblemParts
    ... on FireTriggerSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<FireTriggerMutation, FireTriggerMutationVariables>;
export const DeleteTriggerDocument = /*#__PURE__*/ gql`
    mutation DeleteTrigger($id: ID!) {
  deleteTrigger(id: $id) {
    __typename
    ...ProblemParts
    ... on DeleteSuccess {
      deletedId
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DeleteTriggerMutation, DeleteTriggerMutationVariables>;
export const CreateWebhookDocument = /*#__PURE__*/ gql`
    mutation CreateWebhook($pipeline: ID!, $name: String!, $preset: WebhookPreset!, $events: [String!], $inputs: JSON, $secret: String) {
  createWebhook(
    pipeline: $pipeline
    name: $name
    preset: $preset
    events: $events
    inputs: $inputs
    secret: $secret
  ) {
    __typename
    ...ProblemParts
    ... on WebhookSecretSuccess {
      secret
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<CreateWebhookMutation, CreateWebhookMutationVariables>;
export const UpdateWebhookDocument = /*#__PURE__*/ gql`
    mutation UpdateWebhook($id: ID!, $events: [String!]!) {
  updateWebhook(id: $id, events: $events) {
    __typename
    ...ProblemParts
    ... on TriggerSuccess {
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<UpdateWebhookMutation, UpdateWebhookMutationVariables>;
export const RotateWebhookSecretDocument = /*#__PURE__*/ gql`
    mutation RotateWebhookSecret($id: ID!, $secret: String, $overlapSeconds: Int!) {
  rotateWebhookSecret(id: $id, secret: $secret, overlapSeconds: $overlapSeconds) {
    __typename
    ...ProblemParts
    ... on WebhookSecretSuccess {
      secret
      trigger {
        ...TriggerWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TriggerWholeFragmentDoc}
${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<RotateWebhookSecretMutation, RotateWebhookSecretMutationVariables>;
export const ReplayFiringDocument = /*#__PURE__*/ gql`
    mutation ReplayFiring($id: ID!) {
  replayFiring(id: $id) {
    __typename
    ...ProblemParts
    ... on FireTriggerSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<ReplayFiringMutation, ReplayFiringMutationVariables>;