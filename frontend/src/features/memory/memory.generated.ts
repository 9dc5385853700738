/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** How the default of a field is determined. */
export type DefaultRule =
  /** Never learn or suggest a value. */
  | 'EXCLUDED'
  /** Learn the value from successful runs. */
  | 'LEARNED'
  /** Use the value set by the caller. */
  | 'PINNED';

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

/** Inputs that Packline learns defaults for. All are short texts. */
export type LearnedField =
  /** Input `angle`. */
  | 'ANGLE'
  /** Input `audience`. */
  | 'AUDIENCE'
  /** Input `author`. */
  | 'AUTHOR'
  /** Input `format`. */
  | 'FORMAT'
  /** Input `kind`. */
  | 'KIND'
  /** Input `model`. */
  | 'MODEL'
  /** Input `persona`. */
  | 'PERSONA'
  /** Input `persona_used`. */
  | 'PERSONA_USED'
  /** Input `theme`. */
  | 'THEME'
  /** Input `voice`. */
  | 'VOICE';

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

export type MemoryQueryVariables = Exact<{
  caller?: string | null | undefined;
  scope: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type MemoryQuery = { myDefaults: { learningPaused: boolean, locked: string | null, caller: { id: string, name: string }, pipelines: Array<{ target: string, uses: number, lastUsedAt: string | null, entry:
        | { __typename: 'Pack', id: string, name: string }
        | { __typename: 'Pipeline', key: string, id: string, name: string }
       | null, values: Array<{ field: LearnedField, value: string | null, count: number, share: number, lastUsedAt: string | null, source: string, pinned: boolean, excluded: boolean, others: Array<string> }> }>, packs: Array<{ target: string, uses: number, lastUsedAt: string | null, entry:
        | { __typename: 'Pack', id: string, name: string }
        | { __typename: 'Pipeline', key: string, id: string, name: string }
       | null, values: Array<{ field: LearnedField, value: string | null, count: number, share: number, lastUsedAt: string | null, source: string, pinned: boolean, excluded: boolean, others: Array<string> }> }> }, memoryEntries: { totalCount: number, nodes: Array<{ id: string, at: string, target: string, outcome: RunState, failureCode: FailureCode | null, readable: boolean, isStep: boolean, learned: Array<{ field: LearnedField, value: string }>, entry:
        | { __typename: 'Pack', id: string, name: string }
        | { __typename: 'Pipeline', id: string, name: string }
       | null, run: { id: string, title: string } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, viewer: { id: string, scopes: Array<Scope> } };

export type MemoryCallersQueryVariables = Exact<{ [key: string]: never; }>;


export type MemoryCallersQuery = { callers: { nodes: Array<{ id: string, name: string }> } };

export type UsualChoicesFragment = { target: string, uses: number, lastUsedAt: string | null, entry:
    | { __typename: 'Pack', id: string, name: string }
    | { __typename: 'Pipeline', key: string, id: string, name: string }
   | null, values: Array<{ field: LearnedField, value: string | null, count: number, share: number, lastUsedAt: string | null, source: string, pinned: boolean, excluded: boolean, others: Array<string> }> };

export type EvidenceRowFragment = { id: string, at: string, target: string, outcome: RunState, failureCode: FailureCode | null, readable: boolean, isStep: boolean, learned: Array<{ field: LearnedField, value: string }>, entry:
    | { __typename: 'Pack', id: string, name: string }
    | { __typename: 'Pipeline', id: string, name: string }
   | null, run: { id: string, title: string } | null };

export type ForgetMemoryMutationVariables = Exact<{
  scope: string;
  caller?: string | null | undefined;
  dryRun: boolean;
}>;


export type ForgetMemoryMutation = { forgetMemory:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForgetMemorySuccess', scope: string, rows: number }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type SetDefaultMutationVariables = Exact<{
  target: string;
  field: LearnedField;
  rule: DefaultRule;
  value?: string | null | undefined;
  caller?: string | null | undefined;
}>;


export type SetDefaultMutation = { setDefault:
    | { __typename: 'DefaultsSuccess', defaults: { learningPaused: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type SetLearningMutationVariables = Exact<{
  paused: boolean;
  caller?: string | null | undefined;
}>;


export type SetLearningMutation = { setLearning:
    | { __typename: 'DefaultsSuccess', defaults: { learningPaused: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const UsualChoicesFragmentDoc = /*#__PURE__*/ gql`
    fragment UsualChoices on EntryDefaults {
  target
  uses
  lastUsedAt
  entry {
    __typename
    id
    name
    ... on Pipeline {
      key
    }
  }
  values {
    field
    value
    count
    share
    lastUsedAt
    source
    pinned
    excluded
    others
  }
}
    ` as unknown as DocumentNode<UsualChoicesFragment, unknown>;
export const EvidenceRowFragmentDoc = /*#__PURE__*/ gql`
    fragment EvidenceRow on MemoryEntry {
  id
  at
  target
  outcome
  failureCode
  readable
  isStep
  learned {
    field
    value
  }
  entry {
    __typename
    id
    name
  }
  run {
    id
    title
  }
}
    ` as unknown as DocumentNode<EvidenceRowFragment, unknown>;
export const MemoryDocument = /*#__PURE__*/ gql`
    query Memory($caller: ID, $scope: MemoryScope!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  myDefaults(caller: $caller) {
    learningPaused
    locked
    caller {
      id
      name
    }
    pipelines {
      ...UsualChoices
    }
    packs {
      ...UsualChoices
    }
  }
  memoryEntries(
    caller: $caller
    scope: $scope
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      ...EvidenceRow
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
  viewer {
    id
    scopes
  }
}
    ${UsualChoicesFragmentDoc}
${EvidenceRowFragmentDoc}` as unknown as DocumentNode<MemoryQuery, MemoryQueryVariables>;
export const MemoryCallersDocument = /*#__PURE__*/ gql`
    query MemoryCallers {
  callers(first: 100) {
    nodes {
      id
      name
    }
  }
}
    ` as unknown as DocumentNode<MemoryCallersQuery, MemoryCallersQueryVariables>;
export const ForgetMemoryDocument = /*#__PURE__*/ gql`
    mutation ForgetMemory($scope: MemoryScope!, $caller: ID, $dryRun: Boolean!) {
  forgetMemory(scope: $scope, caller: $caller, dryRun: $dryRun) {
    __typename
    ...ProblemParts
    ... on ForgetMemorySuccess {
      scope
      rows
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<ForgetMemoryMutation, ForgetMemoryMutationVariables>;
export const SetDefaultDocument = /*#__PURE__*/ gql`
    mutation SetDefault($target: ID!, $field: LearnedField!, $rule: DefaultRule!, $value: String, $caller: ID) {
  setDefault(
    target: $target
    field: $field
    rule: $rule
    value: $value
    caller: $caller
  ) {
    __typename
    ...ProblemParts
    ... on DefaultsSuccess {
      defaults {
        learningPaused
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<SetDefaultMutation, SetDefaultMutationVariables>;
export const SetLearningDocument = /*#__PURE__*/ gql`
    mutation SetLearning($paused: Boolean!, $caller: ID) {
  setLearning(paused: $paused, caller: $caller) {
    __typename
    ...ProblemParts
    ... on DefaultsSuccess {
      defaults {
        learningPaused
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<SetLearningMutation, SetLearningMutationVariables>;