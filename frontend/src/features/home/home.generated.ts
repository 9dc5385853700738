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

/** What a model makes. */
export type ModelKind =
  /** Images. */
  | 'IMAGE'
  /** Text. */
  | 'TEXT'
  /** Speech. */
  | 'VOICE';

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

export type HomeQueryVariables = Exact<{ [key: string]: never; }>;


export type HomeQuery = { attention: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }>, pageInfo: { hasNextPage: boolean } }, now: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }>, pageInfo: { hasNextPage: boolean } }, recent: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }>, pageInfo: { hasNextPage: boolean } } };

export type RunSampleMutationVariables = Exact<{
  idempotencyKey: string;
}>;


export type RunSampleMutation = { runPipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   };

export type ChecklistQueryVariables = Exact<{ [key: string]: never; }>;


export type ChecklistQuery = { byAgent: { nodes: Array<{ id: string }> }, mine: { nodes: Array<{ id: string }> }, modelRoles: Array<{ role: string, chain: Array<{ key: string, kind: ModelKind, availability: { usable: boolean } }> }> };


export const HomeDocument = /*#__PURE__*/ gql`
    query Home {
  attention: runs(filter: {needsAttention: true}, first: 8) {
    nodes {
      ...RunRow
    }
    pageInfo {
      hasNextPage
    }
  }
  now: runs(filter: {states: [QUEUED, RUNNING, WAITING, CANCELLING]}, first: 8) {
    nodes {
      ...RunRow
    }
    pageInfo {
      hasNextPage
    }
  }
  recent: runs(
    filter: {needsAttention: false, states: [SUCCEEDED, FAILED, CANCELLED]}
    first: 8
  ) {
    nodes {
      ...RunRow
    }
    pageInfo {
      hasNextPage
    }
  }
}
    ${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<HomeQuery, HomeQueryVariables>;
export const RunSampleDocument = /*#__PURE__*/ gql`
    mutation RunSample($idempotencyKey: String!) {
  runPipeline(pipeline: "builtin.sample", idempotencyKey: $idempotencyKey) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<RunSampleMutation, RunSampleMutationVariables>;
export const ChecklistDocument = /*#__PURE__*/ gql`
    query Checklist {
  byAgent: runs(filter: {causes: [AGENT]}, first: 1) {
    nodes {
      id
    }
  }
  mine: pipelines(filter: {builtin: false}, first: 1) {
    nodes {
      id
    }
  }
  modelRoles {
    role
    chain {
      key
      kind
      availability {
        usable
      }
    }
  }
}
    ` as unknown as DocumentNode<ChecklistQuery, ChecklistQueryVariables>;