/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc, ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
import { FiringRowFragmentDoc, RunEndedPartsFragmentDoc, SchedulePartsFragmentDoc, TriggerRowFragmentDoc } from '../../domain/triggers/triggers.generated.ts';
/** The effect of applying a document. */
export type ApplyAction =
  /** Creates a pipeline. */
  | 'CREATE'
  /** Changes nothing, because it is identical. */
  | 'KEEP'
  /** Creates a new version. */
  | 'UPDATE';

/** The effect of applying a document on a trigger. */
export type ApplyTriggerAction =
  /** Creates a trigger. */
  | 'CREATE'
  /** Deletes it with its firings, because the list lacks it. */
  | 'DELETE'
  /** Changes nothing. */
  | 'KEEP'
  /** Changes it. Instants before the change no longer fire. */
  | 'UPDATE';

/** What happens with instants at which no server was running. */
export type CatchUpPolicy =
  /** A run is started for each of the latest ones, up to `catchUpLimit`, one after the other. */
  | 'ALL'
  /** A run is started for the latest one; the others are recorded as missed. */
  | 'LATEST'
  /** They are recorded as missed. */
  | 'NONE';

/** What to do about a failure. */
export type FailureClass =
  /** Change the input, credential or settings, then resume. */
  | 'CALLER_FIXABLE'
  /** Nothing failed; the run was cancelled. */
  | 'CANCELLED'
  /** A bug: report it, and resume once it is fixed. */
  | 'PACK_BUG'
  /** The source has changed: review it, then resume. */
  | 'STATE_CHANGED'
  /** Resume without changes, now or later. */
  | 'TRANSIENT';

/** Why a run, step or attempt failed. */
export type FailureCode =
  /** An artifact could not be stored, read or found. */
  | 'ARTIFACT_FAILED'
  /** The run was cancelled. */
  | 'CANCELLED'
  /** A credential is missing, not granted or was rejected (401, 403). */
  | 'CREDENTIAL_INVALID'
  /** The pack raised an unexpected error. */
  | 'HANDLER_FAILED'
  /** Packline had an internal error. */
  | 'INTERNAL'
  /** The input is invalid, or names a model that does not exist. */
  | 'INVALID_INPUT'
  /** The output does not match its schema, or a post-condition failed. */
  | 'INVALID_OUTPUT'
  /** The requested resource does not exist (404). */
  | 'NOT_FOUND'
  /** It is unknown whether the step took effect, and the step must not be repeated. */
  | 'OUTCOME_UNKNOWN'
  /** A policy denied it: command rules, network guard or isolation. */
  | 'POLICY_DENIED'
  /** A budget or quota is used up. */
  | 'QUOTA_EXCEEDED'
  /** Too many requests (429). */
  | 'RATE_LIMITED'
  /** Memory, disk space or a size limit was exhausted. */
  | 'RESOURCE_EXHAUSTED'
  /** A resource was changed in the meantime (409, 412). */
  | 'SCHEMA_MISMATCH'
  /** The session has ended and cannot be recreated. */
  | 'SESSION_UNAVAILABLE'
  /** The step or an external service timed out (408, 504). */
  | 'TIMEOUT'
  /** An external service failed or refused the connection (5xx). */
  | 'UPSTREAM_UNAVAILABLE';

/** The first thing to do about a failure. */
export type FailureRemedy =
  /** Ask the operator of the server to change its settings, then resume. */
  | 'ASK_OPERATOR'
  /** Change the input of the step, then resume. */
  | 'CHANGE_INPUT'
  /** Check what changed outside of the run, then decide whether to resume. */
  | 'CHECK_CHANGES'
  /** Raise the quota at the provider, or use another account. Then resume. */
  | 'RAISE_QUOTA'
  /** Report the defect, and resume once it is fixed. */
  | 'REPORT'
  /** Resume without changes, now or later. */
  | 'RESUME'
  /** Set or replace the credential, then resume. */
  | 'SET_CREDENTIAL';

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

/** How strictly an agent's process is isolated, weakest first. The agent's built-in tools are not restricted beyond that. */
export type IsolationLevel =
  /** A separate process group and an empty environment. */
  | 'PROCESS'
  /** PROCESS, plus a restricted view of files and other processes. */
  | 'SANDBOX'
  /** SANDBOX, without network access. */
  | 'SANDBOX_OFFLINE';

/** What happens when a schedule fires while its last run has not ended. */
export type OverlapPolicy =
  /** The last run is cancelled. */
  | 'CANCEL_PREVIOUS'
  /** One run waits for the end of the last one; further ones are skipped. */
  | 'QUEUE'
  /** No run is started. */
  | 'SKIP';

/** How a pack changes external systems. */
export type PackEffects =
  /** Changes an external system on every call, such as sending mail or making a payment. */
  | 'EXTERNAL'
  /** Changes an external system, but repeating the call changes nothing more. */
  | 'IDEMPOTENT'
  /** Changes nothing outside Packline. */
  | 'NONE';

/** What a caller can do with a pipeline. */
export type PipelineAction =
  /** Copy it. */
  | 'CLONE'
  /** Delete it. */
  | 'DELETE'
  /** Start a run. */
  | 'RUN'
  /** Save a new version. */
  | 'UPDATE';

/** Filters for pipelines. All given fields must match. */
export type PipelineFilter = {
  /** Only pipelines that accept one of these kinds of data. */
  accepts?: Array<string> | null | undefined;
  /** True: only starters. False: no starters. */
  builtin?: boolean | null | undefined;
  /** Only pipelines owned by the caller with this id. */
  owner?: string | null | undefined;
  /** Only pipelines that produce one of these kinds of data. */
  produces?: Array<string> | null | undefined;
  /** Words to search for in keys, names, descriptions and metadata. */
  text?: string | null | undefined;
  /** True: only pipelines that can run on this server. False: only those that cannot. */
  usable?: boolean | null | undefined;
};

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

/** What a caller can do with a run. */
export type RunAction =
  /** Mark its failure as handled. */
  | 'ACKNOWLEDGE'
  /** Cancel the run. */
  | 'CANCEL'
  /** Delete the run and its artifacts. */
  | 'DELETE'
  /** Propose a pipeline based on the run. */
  | 'PROMOTE'
  /** Start a new run from the first step. */
  | 'RERUN'
  /** Continue the same run at the first step that has not succeeded. */
  | 'RESUME';

/** What started a run. */
export type RunCause =
  /** Another agent, over A2A. */
  | 'A2A'
  /** An agent, over MCP. */
  | 'AGENT'
  /** A person, in the web page, on the command line or with a script. */
  | 'PERSON'
  /** A re-run of another run. */
  | 'RERUN'
  /** A trigger that fires when a run ends. */
  | 'RUN_ENDED'
  /** A trigger with a schedule. */
  | 'SCHEDULE'
  /** A webhook. */
  | 'WEBHOOK';

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

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

/** The state of a step. */
export type StepState =
  /** Cancelled while running or waiting. */
  | 'CANCELLED'
  /** Failed, and not retried automatically. */
  | 'FAILED'
  /** Not reached yet. */
  | 'PENDING'
  /** An attempt is running. */
  | 'RUNNING'
  /** Succeeded. Its output is kept through all resumes. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session. */
  | 'WAITING';

/** What a run or step can wait for. */
export type WaitReason =
  /** The delay before the next attempt. */
  | 'RETRY'
  /** A free worker, or a free slot within the caller's limit of concurrent runs. */
  | 'SLOT'
  /** The start time that was asked for. */
  | 'START_TIME'
  /** A worker that has what the next step needs; none is alive. */
  | 'WORKER';

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

export type PipelineHeadFragment = { id: string, key: string, name: string, description: string, builtin: boolean, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, steps: Array<
    | { candidates: Array<string>, key: string, position: number }
    | { packName: string, key: string, position: number }
  > };

export type PipelinesQueryVariables = Exact<{
  filter?: PipelineFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PipelinesQuery = { pipelines: { totalCount: number, nodes: Array<{ id: string, key: string, name: string, description: string, builtin: boolean, runs: { nodes: Array<{ id: string, state: RunState, workSeconds: number, createdAt: string }> }, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, steps: Array<
        | { candidates: Array<string>, key: string, position: number }
        | { packName: string, key: string, position: number }
      > }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PipelineKindsQueryVariables = Exact<{ [key: string]: never; }>;


export type PipelineKindsQuery = { pipelines: { nodes: Array<{ id: string, metadata: { accepts: Array<string>, produces: Array<string> } }> } };

export type PipelineVersionsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PipelineVersionsQuery = { pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string }, versions: { nodes: Array<{ id: string, number: number, note: string | null, createdAt: string, createdBy: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type VersionTextQueryVariables = Exact<{
  id: string;
  number: number;
}>;


export type VersionTextQuery = { pipeline: { id: string, versionByNumber: { id: string, number: number, yaml: string } | null } | null };

export type RestoreVersionMutationVariables = Exact<{
  pipeline: string;
  yaml: string;
  ifVersion: number;
  note?: string | null | undefined;
}>;


export type RestoreVersionMutation = { updatePipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PipelineSuccess', newVersion: boolean, pipeline: { id: string, name: string, currentVersion: { id: string, number: number, yaml: string } } }
   | null };

export type DeletePipelineMutationVariables = Exact<{
  pipeline: string;
  confirmKey: string;
}>;


export type DeletePipelineMutation = { deletePipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type ImportPipelinesMutationVariables = Exact<{
  yaml: string;
  dryRun: boolean;
}>;


export type ImportPipelinesMutation = { applyPipelines:
    | { __typename: 'ApplyPipelinesSuccess', changes: Array<{ key: string, action: ApplyAction, diff: string, triggers: Array<{ name: string, action: ApplyTriggerAction, triggerId: string | null, secret: string | null }>, warnings: Array<{ path: Array<string>, message: string, hint: string | null }> }> }
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type PipelinePageQueryVariables = Exact<{
  id: string;
}>;


export type PipelinePageQuery = { pipeline: { inputSchema: unknown, actions: Array<PipelineAction>, id: string, key: string, name: string, description: string, builtin: boolean, currentVersion: { id: string, number: number, yaml: string, createdAt: string }, steps: Array<
      | { candidates: Array<string>, outputs: Array<string>, stdoutTo: string | null, cache: boolean, requiredIsolation: IsolationLevel | null, key: string, position: number, timeoutSeconds: number, retry: { maxAttempts: number }, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
      | { packName: string, key: string, position: number, timeoutSeconds: number, pack: { id: string, description: string, effects: PackEffects } | null, retry: { maxAttempts: number }, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
    >, runs: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }> }, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null } } | null };

export type AgentChoicesQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentChoicesQuery = { agentProfiles: Array<{ key: string, model: string | null, availability: { usable: boolean } }> };

export type PipelineTriggersQueryVariables = Exact<{
  pipeline: string;
}>;


export type PipelineTriggersQuery = { triggers: { nodes: Array<{ id: string, name: string, enabled: boolean, attention: string | null, nextAt: string | null, owner: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, schedule: { cron: string | null, intervalSeconds: number | null, timeZone: string, overlap: OverlapPolicy, catchUp: CatchUpPolicy, catchUpLimit: number } | null, webhook: { preset: WebhookPreset } | null, runEnded: { states: Array<RunState>, runsOf: RunsOf, pipelines: Array<{ id: string, name: string }> | null } | null, lastFiring: { id: string, scheduledAt: string | null, outcome: FiringOutcome, reason: string | null, createdAt: string, run: { id: string, title: string, state: RunState } | null } | null }>, pageInfo: { hasNextPage: boolean } } };

export const PipelineHeadFragmentDoc = /*#__PURE__*/ gql`
    fragment PipelineHead on Pipeline {
  id
  key
  name
  description
  builtin
  metadata {
    accepts
    produces
    typicalUse
    limitations
    practice
  }
  availability {
    usable
    missing {
      kind
      name
      message
      hint
    }
  }
  usage {
    runs
    failed
    medianDurationSeconds
    medianCostUsd
    lastRunAt
  }
  steps {
    key
    position
    ... on PackStep {
      packName
    }
    ... on AgentStep {
      candidates
    }
  }
}
    ` as unknown as DocumentNode<PipelineHeadFragment, unknown>;
export const PipelinesDocument = /*#__PURE__*/ gql`
    query Pipelines($filter: PipelineFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  pipelines(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
    orderBy: MOST_USED
  ) {
    totalCount
    nodes {
      ...PipelineHead
      runs(first: 12) {
        nodes {
          id
          state
          workSeconds
          createdAt
        }
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    ${PipelineHeadFragmentDoc}` as unknown as DocumentNode<PipelinesQuery, PipelinesQueryVariables>;
export const PipelineKindsDocument = /*#__PURE__*/ gql`
    query PipelineKinds {
  pipelines(first: 100, orderBy: MOST_USED) {
    nodes {
      id
      metadata {
        accepts
        produces
      }
    }
  }
}
    ` as unknown as DocumentNode<PipelineKindsQuery, PipelineKindsQueryVariables>;
export const PipelineVersionsDocument = /*#__PURE__*/ gql`
    query PipelineVersions($id: ID!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  pipeline(id: $id) {
    id
    key
    name
    builtin
    actions
    currentVersion {
      id
      number
      yaml
    }
    versions(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        number
        note
        createdAt
        createdBy {
          id
          name
        }
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
    ` as unknown as DocumentNode<PipelineVersionsQuery, PipelineVersionsQueryVariables>;
export const VersionTextDocument = /*#__PURE__*/ gql`
    query VersionText($id: ID!, $number: Int!) {
  pipeline(id: $id) {
    id
    versionByNumber(number: $number) {
      id
      number
      yaml
    }
  }
}
    ` as unknown as DocumentNode<VersionTextQuery, VersionTextQueryVariables>;
export const RestoreVersionDocument = /*#__PURE__*/ gql`
    mutation RestoreVersion($pipeline: ID!, $yaml: String!, $ifVersion: Int!, $note: String) {
  updatePipeline(
    pipeline: $pipeline
    change: {yaml: $yaml}
    ifVersion: $ifVersion
    note: $note
  ) {
    __typename
    ...ProblemParts
    ... on PipelineSuccess {
      newVersion
      pipeline {
        id
        name
        currentVersion {
          id
          number
          yaml
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<RestoreVersionMutation, RestoreVersionMutationVariables>;
export const DeletePipelineDocument = /*#__PURE__*/ gql`
    mutation DeletePipeline($pipeline: ID!, $confirmKey: Key!) {
  deletePipeline(pipeline: $pipeline, confirmKey: $confirmKey) {
    __typename
    ...ProblemParts
    ... on DeleteSuccess {
      deletedId
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DeletePipelineMutation, DeletePipelineMutationVariables>;
export const ImportPipelinesDocument = /*#__PURE__*/ gql`
    mutation ImportPipelines($yaml: String!, $dryRun: Boolean!) {
  applyPipelines(yaml: $yaml, dryRun: $dryRun) {
    __typename
    ...ProblemParts
    ... on ApplyPipelinesSuccess {
      changes {
        key
        action
        diff
        triggers {
          name
          action
          triggerId
          secret
        }
        warnings {
          path
          message
          hint
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<ImportPipelinesMutation, ImportPipelinesMutationVariables>;
export const PipelinePageDocument = /*#__PURE__*/ gql`
    query PipelinePage($id: ID!) {
  pipeline(id: $id) {
    ...PipelineHead
    inputSchema
    actions
    currentVersion {
      id
      number
      yaml
      createdAt
    }
    steps {
      key
      position
      timeoutSeconds
      retry {
        maxAttempts
      }
      references {
        path
        expression
        sourceStep
        sourcePath
      }
      ... on PackStep {
        packName
        pack {
          id
          description
          effects
        }
      }
      ... on AgentStep {
        candidates
        outputs
        stdoutTo
        cache
        requiredIsolation
      }
    }
    runs(first: 8) {
      nodes {
        ...RunRow
      }
    }
  }
}
    ${PipelineHeadFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<PipelinePageQuery, PipelinePageQueryVariables>;
export const AgentChoicesDocument = /*#__PURE__*/ gql`
    query AgentChoices {
  agentProfiles {
    key
    model
    availability {
      usable
    }
  }
}
    ` as unknown as DocumentNode<AgentChoicesQuery, AgentChoicesQueryVariables>;
export const PipelineTriggersDocument = /*#__PURE__*/ gql`
    query PipelineTriggers($pipeline: ID!) {
  triggers(pipeline: $pipeline, first: 8) {
    nodes {
      ...TriggerRow
    }
    pageInfo {
      hasNextPage
    }
  }
}
    ${TriggerRowFragmentDoc}
${SchedulePartsFragmentDoc}
${RunEndedPartsFragmentDoc}
${FiringRowFragmentDoc}` as unknown as DocumentNode<PipelineTriggersQuery, PipelineTriggersQueryVariables>;