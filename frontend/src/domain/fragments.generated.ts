/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
/** What an artifact is worth. */
export type ArtifactStatus =
  /** Made by an agent; nothing has vouched for it. */
  | 'PROPOSED'
  /** Holds a known secret; not handed out. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions held. */
  | 'STORED'
  /** Made by an agent; a later deterministic step read it and succeeded. */
  | 'VERIFIED';

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

export type FailurePartsFragment = { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown };

export type WaitPartsFragment = { reason: WaitReason, message: string, until: string | null };

export type CostPartsFragment = { amountUsd: number | null, usage: { input: number, output: number } | null };

export type RunRowFragment = { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null };

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