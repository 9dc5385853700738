/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc, CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc } from '../../domain/fragments.generated.ts';
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

/** How a pack changes external systems. */
export type PackEffects =
  /** Changes an external system on every call, such as sending mail or making a payment. */
  | 'EXTERNAL'
  /** Changes an external system, but repeating the call changes nothing more. */
  | 'IDEMPOTENT'
  /** Changes nothing outside Packline. */
  | 'NONE';

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

/** How a resume treats a step. */
export type ResumeAction =
  /** Reuse its output without running it. */
  | 'REUSE'
  /** Run it. */
  | 'RUN'
  /** Run it again although it succeeded, because its session or an artifact is no longer available or cannot be shared. */
  | 'RUN_AGAIN';

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

/** Filters for runs. All given fields must match; within a field, any value. */
export type RunFilter = {
  /** Only runs started by one of these callers, by id. */
  callers?: Array<string> | null | undefined;
  /** Only runs with one of these causes. */
  causes?: Array<RunCause> | null | undefined;
  /** Only runs created before this time. */
  createdBefore?: string | null | undefined;
  /** Only runs created at or after this time. */
  createdFrom?: string | null | undefined;
  /** Only runs that triggers started because the run with this id ended. */
  endedRun?: string | null | undefined;
  /** True: only failed runs that are not acknowledged and have no successful re-run. False: all others. */
  needsAttention?: boolean | null | undefined;
  /** Only single calls of one of these packs, by id. */
  packs?: Array<string> | null | undefined;
  /** Only runs of one of these pipelines, by id, key or alias. */
  pipelines?: Array<string> | null | undefined;
  /** Only re-runs of the run with this id. */
  rerunOf?: string | null | undefined;
  /** Only runs in one of these states. */
  states?: Array<RunState> | null | undefined;
  /** Words to search for in titles, inputs and failure messages. */
  text?: string | null | undefined;
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

export type RunsQueryVariables = Exact<{
  filter?: RunFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type RunsQuery = { runs: { totalCount: number, nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type RunFiltersQueryVariables = Exact<{ [key: string]: never; }>;


export type RunFiltersQuery = { viewer: { id: string, name: string, scopes: Array<Scope> }, pipelines: { nodes: Array<{ id: string, key: string, name: string }> } };

export type RunActorsQueryVariables = Exact<{ [key: string]: never; }>;


export type RunActorsQuery = { callers: { nodes: Array<{ id: string, name: string }> } };

export type BulkPlanQueryVariables = Exact<{
  id: string;
  runs?: RunFilter | null | undefined;
  resume: boolean;
  rerun: boolean;
}>;


export type BulkPlanQuery = { run: { id: string, title: string, state: RunState, actions: Array<RunAction>, acknowledgedAt: string | null, resumePreview?: { allowed: boolean, issues: Array<{ severity: Severity, message: string }>, steps: Array<{ key: string, action: ResumeAction, effects: PackEffects, mayRepeatEffects: boolean }> } | null, rerunPreview?: { allowed: boolean, issues: Array<{ severity: Severity, message: string }>, steps: Array<{ key: string, action: ResumeAction, effects: PackEffects, mayRepeatEffects: boolean }> } } | null, runs: { nodes: Array<{ id: string }> } };

export type BulkResumeMutationVariables = Exact<{
  id: string;
}>;


export type BulkResumeMutation = { resumeRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type BulkRerunMutationVariables = Exact<{
  id: string;
  idempotencyKey?: string | null | undefined;
}>;


export type BulkRerunMutation = { rerunRun:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type BulkCancelMutationVariables = Exact<{
  id: string;
}>;


export type BulkCancelMutation = { cancelRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type BulkAcknowledgeMutationVariables = Exact<{
  id: string;
}>;


export type BulkAcknowledgeMutation = { acknowledgeRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };


export const RunsDocument = /*#__PURE__*/ gql`
    query Runs($filter: RunFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  runs(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      ...RunRow
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
}
    ${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<RunsQuery, RunsQueryVariables>;
export const RunFiltersDocument = /*#__PURE__*/ gql`
    query RunFilters {
  viewer {
    id
    name
    scopes
  }
  pipelines(first: 100, orderBy: NAME) {
    nodes {
      id
      key
      name
    }
  }
}
    ` as unknown as DocumentNode<RunFiltersQuery, RunFiltersQueryVariables>;
export const RunActorsDocument = /*#__PURE__*/ gql`
    query RunActors {
  callers(first: 100) {
    nodes {
      id
      name
    }
  }
}
    ` as unknown as DocumentNode<RunActorsQuery, RunActorsQueryVariables>;
export const BulkPlanDocument = /*#__PURE__*/ gql`
    query BulkPlan($id: ID!, $runs: RunFilter, $resume: Boolean!, $rerun: Boolean!) {
  run(id: $id) {
    id
    title
    state
    actions
    acknowledgedAt
    resumePreview @include(if: $resume) {
      allowed
      issues {
        severity
        message
      }
      steps {
        key
        action
        effects
        mayRepeatEffects
      }
    }
    rerunPreview(inputs: {}) @include(if: $rerun) {
      allowed
      issues {
        severity
        message
      }
      steps {
        key
        action
        effects
        mayRepeatEffects
      }
    }
  }
  runs(filter: $runs, first: 5) {
    nodes {
      id
    }
  }
}
    ` as unknown as DocumentNode<BulkPlanQuery, BulkPlanQueryVariables>;
export const BulkResumeDocument = /*#__PURE__*/ gql`
    mutation BulkResume($id: ID!) {
  resumeRun(id: $id) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<BulkResumeMutation, BulkResumeMutationVariables>;
export const BulkRerunDocument = /*#__PURE__*/ gql`
    mutation BulkRerun($id: ID!, $idempotencyKey: String) {
  rerunRun(id: $id, idempotencyKey: $idempotencyKey) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      run {
        ...RunRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<BulkRerunMutation, BulkRerunMutationVariables>;
export const BulkCancelDocument = /*#__PURE__*/ gql`
    mutation BulkCancel($id: ID!) {
  cancelRun(id: $id) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<BulkCancelMutation, BulkCancelMutationVariables>;
export const BulkAcknowledgeDocument = /*#__PURE__*/ gql`
    mutation BulkAcknowledge($id: ID!) {
  acknowledgeRun(id: $id) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<BulkAcknowledgeMutation, BulkAcknowledgeMutationVariables>;