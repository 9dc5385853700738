/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc } from '../../domain/fragments.generated.ts';
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

export type CompareQueryVariables = Exact<{
  a: string;
  b: string;
}>;


export type CompareQuery = { a: { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string } | null, version: { id: string, number: number } | null, result: { json: unknown, excerpt: string | null, truncated: boolean, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
        | { key: string }
        | { packName: string, key: string }
       | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null, b: { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string } | null, version: { id: string, number: number } | null, result: { json: unknown, excerpt: string | null, truncated: boolean, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
        | { key: string }
        | { packName: string, key: string }
       | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null };

export type ComparedRunFragment = { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string } | null, version: { id: string, number: number } | null, result: { json: unknown, excerpt: string | null, truncated: boolean, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
      | { key: string }
      | { packName: string, key: string }
     | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null };

export const ComparedRunFragmentDoc = /*#__PURE__*/ gql`
    fragment ComparedRun on Run {
  ...RunRow
  inputs
  rerunOf {
    id
  }
  version {
    id
    number
  }
  result: output {
    json
    excerpt
    truncated
    sizeBytes
  }
  steps {
    id
    key
    state
    packVersion
    startedAt
    endedAt
    attempts {
      id
      startedAt
      endedAt
    }
    step {
      key
      ... on PackStep {
        packName
      }
    }
    failure {
      ...FailureParts
    }
  }
}
    ` as unknown as DocumentNode<ComparedRunFragment, unknown>;
export const CompareDocument = /*#__PURE__*/ gql`
    query Compare($a: ID!, $b: ID!) {
  a: run(id: $a) {
    ...ComparedRun
  }
  b: run(id: $b) {
    ...ComparedRun
  }
}
    ${ComparedRunFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<CompareQuery, CompareQueryVariables>;