/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc, CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc } from '../../domain/fragments.generated.ts';
/** What to do about a failure. */
export type FailureClass =
  /** Change the input, credential or settings, then resume. */
  | 'CALLER_FIXABLE'
  /** Nothing went wrong; somebody stopped it. */
  | 'CANCELLED'
  /** Report it; resume once it is repaired. */
  | 'PACK_BUG'
  /** Something moved on meanwhile: look, then resume. */
  | 'STATE_CHANGED'
  /** Resume as it is, now or later. */
  | 'TRANSIENT';

/** Everything that can go wrong in a run. */
export type FailureCode =
  /** An artifact could not be stored, read or found. */
  | 'ARTIFACT_FAILED'
  /** It was cancelled. */
  | 'CANCELLED'
  /** A credential is missing, refused or not granted (401, 403). */
  | 'CREDENTIAL_INVALID'
  /** The pack raised something it should not have. */
  | 'HANDLER_FAILED'
  /** Packline itself is at fault. */
  | 'INTERNAL'
  /** The input is wrong; a model name that does not exist, too. */
  | 'INVALID_INPUT'
  /** The output breaks its schema or a post-condition. */
  | 'INVALID_OUTPUT'
  /** What was asked for does not exist (404). */
  | 'NOT_FOUND'
  /** It may or may not have happened, and must not be repeated. */
  | 'OUTCOME_UNKNOWN'
  /** A policy forbids it: command rules, network guard, isolation. */
  | 'POLICY_DENIED'
  /** A budget is used up. */
  | 'QUOTA_EXCEEDED'
  /** Too many requests (429). */
  | 'RATE_LIMITED'
  /** Memory, disk or a size limit. */
  | 'RESOURCE_EXHAUSTED'
  /** Something is no longer as the caller thought (409, 412). */
  | 'SCHEMA_MISMATCH'
  /** The session is gone and cannot be made again. */
  | 'SESSION_UNAVAILABLE'
  /** It took too long (408, 504), here or there. */
  | 'TIMEOUT'
  /** An outside service failed or refused the connection (5xx). */
  | 'UPSTREAM_UNAVAILABLE';

/** What a pack changes outside. */
export type PackEffects =
  /** Something, each time it runs: a mail, a post, a payment. */
  | 'EXTERNAL'
  /** Something, but repeating it changes no more. */
  | 'IDEMPOTENT'
  /** Nothing. */
  | 'NONE';

/** Kinds of refusal. What goes wrong inside a run is a FailureCode. */
export type ProblemCode =
  /** The object changed since the caller read it, is read-only, or the handle is taken. */
  | 'CONFLICT'
  /** The caller may not do this. */
  | 'FORBIDDEN'
  /** The input breaks a rule; see the issues. */
  | 'INVALID'
  /** A limit is reached. */
  | 'LIMITED'
  /** The object named does not exist, or the caller may not know of it. */
  | 'NOT_FOUND'
  /** A pack, credential, service, model or session it needs is missing here. */
  | 'UNAVAILABLE'
  /** The run's state does not allow it. */
  | 'WRONG_STATE';

/** What an entry or step can need. */
export type RequirementKind =
  /** An agent profile. */
  | 'AGENT_PROFILE'
  /** A credential, stored and granted. */
  | 'CREDENTIAL'
  /** A run input. */
  | 'INPUT'
  /** A sandbox strong enough. */
  | 'ISOLATION'
  /** A model or model role. */
  | 'MODEL'
  /** A pack, in a version that satisfies the step. */
  | 'PACK'
  /** An outside service or program. */
  | 'SERVICE'
  /** A pack that can leave or keep a session. */
  | 'SESSION';

/** What a resume does with a step. */
export type ResumeAction =
  /** Its output is reused untouched. */
  | 'REUSE'
  /** It runs. */
  | 'RUN'
  /** It runs again although it succeeded: its session or an artifact is gone, or cannot be shared. */
  | 'RUN_AGAIN';

/** What can be done with a run. */
export type RunAction =
  /** Mark its failure as dealt with. */
  | 'ACKNOWLEDGE'
  /** Stop it. */
  | 'CANCEL'
  /** Delete it and what it produced. */
  | 'DELETE'
  /** Propose a pipeline made from it. */
  | 'PROMOTE'
  /** Run again: a new run, from the first step. */
  | 'RERUN'
  /** Go on in the same run at the first step that has not succeeded. */
  | 'RESUME';

/** What started a run. */
export type RunCause =
  /** Another agent platform, over A2A. None is served yet. */
  | 'A2A'
  /** An agent, over MCP. */
  | 'AGENT'
  /** A person, in the page, on the command line or by a script. */
  | 'PERSON'
  /** The re-run of another run. */
  | 'RERUN'
  /** A schedule. Nothing starts runs by one yet. */
  | 'SCHEDULE'
  /** A webhook. Nothing starts runs by one yet. */
  | 'WEBHOOK';

/** Which runs. Fields are joined by and, values within a field by or. */
export type RunFilter = {
  /** Started by one of these callers. */
  callers?: Array<string> | null | undefined;
  /** Started by one of these. */
  causes?: Array<RunCause> | null | undefined;
  /** Created before. */
  createdBefore?: string | null | undefined;
  /** Created at or after. */
  createdFrom?: string | null | undefined;
  /** FAILED, not acknowledged and not succeeded by a later re-run; or all others. */
  needsAttention?: boolean | null | undefined;
  /** Single calls of one of these packs. */
  packs?: Array<string> | null | undefined;
  /** Of one of these pipelines, by id, key or alias. */
  pipelines?: Array<string> | null | undefined;
  /** Repeating this run. */
  rerunOf?: string | null | undefined;
  /** Standing in one of these. */
  states?: Array<RunState> | null | undefined;
  /** Words in title, inputs or failure message. */
  text?: string | null | undefined;
};

/** Where a run stands. SUCCEEDED, FAILED and CANCELLED are final until a resume. */
export type RunState =
  /** Cancelled before the end. */
  | 'CANCELLED'
  /** Being cancelled; its steps have not let go yet. */
  | 'CANCELLING'
  /** A step failed for good. */
  | 'FAILED'
  /** Accepted, not started. */
  | 'QUEUED'
  /** A step is running or about to. */
  | 'RUNNING'
  /** Every step succeeded. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session; no worker is held. */
  | 'WAITING';

/** What a caller may do. */
export type Scope =
  /** Everything of everybody: credentials, callers, settings, audit; carries all other scopes. */
  | 'MANAGE'
  /** Read the runs, artifacts and transcripts of other callers; carries READ. */
  | 'OBSERVE'
  /** Read the catalog, pipelines, and one's own runs, artifacts and memory. */
  | 'READ'
  /** Start, resume, re-run and cancel runs; keep own defaults. */
  | 'RUN'
  /** Save, copy and delete pipelines; keep proposals for missing packs; delete runs. */
  | 'WRITE';

/** How bad an issue is. */
export type Severity =
  /** Refused. */
  | 'ERROR'
  /** Worth knowing. */
  | 'WARNING';

/** Where a step stands. */
export type StepState =
  /** Cancelled while it ran or waited. */
  | 'CANCELLED'
  /** Failed. */
  | 'FAILED'
  /** Not reached. */
  | 'PENDING'
  /** Running. */
  | 'RUNNING'
  /** Done; its output is kept through every resume. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session. */
  | 'WAITING';

/** What a run or step can wait for. */
export type WaitReason =
  /** The back-off before the next attempt. */
  | 'RETRY'
  /** A free worker, or the caller's limit of concurrent runs. */
  | 'SLOT';

export type RunsQueryVariables = Exact<{
  filter?: RunFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type RunsQuery = { runs: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

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
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };

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
    | { __typename: 'StartRunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   };

export type BulkCancelMutationVariables = Exact<{
  id: string;
}>;


export type BulkCancelMutation = { cancelRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };

export type BulkAcknowledgeMutationVariables = Exact<{
  id: string;
}>;


export type BulkAcknowledgeMutation = { acknowledgeRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };


export const RunsDocument = /*#__PURE__*/ gql`
    query Runs($filter: RunFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  runs(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
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