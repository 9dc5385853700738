/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
/** How far the content of an artifact can be trusted. */
export type ArtifactStatus =
  /** Made by an agent and not verified. */
  | 'PROPOSED'
  /** Contains a known secret. It cannot be downloaded. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions passed. */
  | 'STORED'
  /** Made by an agent, and then read by a later deterministic step that succeeded. */
  | 'VERIFIED';

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

export type FailurePartsFragment = { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown };

export type WaitPartsFragment = { reason: WaitReason, message: string, until: string | null };

export type CostPartsFragment = { amountUsd: number | null, usage: { input: number, output: number } | null };

export type RunRowFragment = { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null };

export type ArtifactRowFragment = { id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null };

export type ProblemParts_ConflictProblem_Fragment = { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_ForbiddenProblem_Fragment = { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_InvalidProblem_Fragment = { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_LimitedProblem_Fragment = { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_NotFoundProblem_Fragment = { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_UnavailableProblem_Fragment = { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemParts_WrongStateProblem_Fragment = { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null };

export type ProblemPartsFragment =
  | ProblemParts_ConflictProblem_Fragment
  | ProblemParts_ForbiddenProblem_Fragment
  | ProblemParts_InvalidProblem_Fragment
  | ProblemParts_LimitedProblem_Fragment
  | ProblemParts_NotFoundProblem_Fragment
  | ProblemParts_UnavailableProblem_Fragment
  | ProblemParts_WrongStateProblem_Fragment
;

export const FailurePartsFragmentDoc = /*#__PURE__*/ gql`
    fragment FailureParts on Failure {
  code
  class
  message
  cause
  field
  hint
  remedy
  fixableBy
  retryable
  retryAfterSeconds
  safeToRepeat
  stepKey
  detail
}
    ` as unknown as DocumentNode<FailurePartsFragment, unknown>;
export const WaitPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment WaitParts on Wait {
  reason
  message
  until
}
    ` as unknown as DocumentNode<WaitPartsFragment, unknown>;
export const CostPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment CostParts on Cost {
  amountUsd
  usage {
    input
    output
  }
}
    ` as unknown as DocumentNode<CostPartsFragment, unknown>;
export const RunRowFragmentDoc = /*#__PURE__*/ gql`
    fragment RunRow on Run {
  id
  title
  state
  cause
  trigger {
    id
    name
  }
  endedRun {
    id
    title
  }
  rerunOf {
    id
    title
  }
  clientName
  createdAt
  startedAt
  endedAt
  progress
  resumeCount
  acknowledgedAt
  workSeconds
  actions
  caller {
    id
    name
  }
  pipeline {
    id
    key
    name
  }
  pack {
    id
    name
  }
  failure {
    ...FailureParts
  }
  wait {
    ...WaitParts
  }
  cost {
    ...CostParts
  }
  currentStep {
    id
    key
    state
  }
}
    ` as unknown as DocumentNode<RunRowFragment, unknown>;
export const ArtifactRowFragmentDoc = /*#__PURE__*/ gql`
    fragment ArtifactRow on Artifact {
  id
  name
  mediaType
  sizeBytes
  status
  verifiedBy {
    id
    key
  }
  createdAt
  expiresAt
  pinned
}
    ` as unknown as DocumentNode<ArtifactRowFragment, unknown>;
export const ProblemPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment ProblemParts on Problem {
  __typename
  message
  code
  hintParts {
    text
    closest
  }
  retryable
  ... on InvalidProblem {
    issues {
      path
      rule
      severity
      message
      hint
    }
  }
  ... on UnavailableProblem {
    missing {
      kind
      name
      steps
      message
      hint
    }
  }
}
    ` as unknown as DocumentNode<ProblemPartsFragment, unknown>;