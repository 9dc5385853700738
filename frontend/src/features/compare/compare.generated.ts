/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc } from '../../domain/fragments.generated.ts';
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

export type CompareQueryVariables = Exact<{
  a: string;
  b: string;
}>;


export type CompareQuery = { a: { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string, title: string } | null, version: { id: string, number: number } | null, result: { json: unknown, text: string | null, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, digest: string }>, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
        | { key: string }
        | { packName: string, key: string }
       | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null, b: { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string, title: string } | null, version: { id: string, number: number } | null, result: { json: unknown, text: string | null, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, digest: string }>, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
        | { key: string }
        | { packName: string, key: string }
       | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } | null };

export type ComparedRunFragment = { inputs: unknown, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, rerunOf: { id: string, title: string } | null, version: { id: string, number: number } | null, result: { json: unknown, text: string | null, sizeBytes: number } | null, steps: Array<{ id: string, key: string, state: StepState, packVersion: string | null, startedAt: string | null, endedAt: string | null, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, digest: string }>, attempts: Array<{ id: string, startedAt: string, endedAt: string | null }>, step:
      | { key: string }
      | { packName: string, key: string }
     | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null }>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null };

export type ComparedFileFragment = { id: string, name: string, mediaType: string, sizeBytes: number, digest: string };

export type ComparedTextsQueryVariables = Exact<{
  a: string;
  b: string;
  limitBytes: number;
}>;


export type ComparedTextsQuery = { a: { text: string | null, nextOffset: number | null, artifact: { id: string } } | null, b: { text: string | null, nextOffset: number | null, artifact: { id: string } } | null };

export type ComparedPicturesQueryVariables = Exact<{
  a: string;
  b: string;
}>;


export type ComparedPicturesQuery = { a:
    | { id: string }
    | { previewUrl: string | null, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null, b:
    | { id: string }
    | { previewUrl: string | null, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export const ComparedFileFragmentDoc = /*#__PURE__*/ gql`
    fragment ComparedFile on Artifact {
  id
  name
  mediaType
  sizeBytes
  digest
}
    ` as unknown as DocumentNode<ComparedFileFragment, unknown>;
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
    text
    sizeBytes
  }
  steps {
    id
    key
    state
    packVersion
    artifacts {
      ...ComparedFile
    }
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
${CostPartsFragmentDoc}
${ComparedFileFragmentDoc}` as unknown as DocumentNode<CompareQuery, CompareQueryVariables>;
export const ComparedTextsDocument = /*#__PURE__*/ gql`
    query ComparedTexts($a: ID!, $b: ID!, $limitBytes: Int!) {
  a: artifactText(id: $a, limitBytes: $limitBytes) {
    artifact {
      id
    }
    text
    nextOffset
  }
  b: artifactText(id: $b, limitBytes: $limitBytes) {
    artifact {
      id
    }
    text
    nextOffset
  }
}
    ` as unknown as DocumentNode<ComparedTextsQuery, ComparedTextsQueryVariables>;
export const ComparedPicturesDocument = /*#__PURE__*/ gql`
    query ComparedPictures($a: ID!, $b: ID!) {
  a: node(id: $a) {
    id
    ... on Artifact {
      previewUrl
    }
  }
  b: node(id: $b) {
    id
    ... on Artifact {
      previewUrl
    }
  }
}
    ` as unknown as DocumentNode<ComparedPicturesQuery, ComparedPicturesQueryVariables>;