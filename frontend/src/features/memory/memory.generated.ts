/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** How a default is settled. */
export type DefaultRule =
  /** Never learned, never suggested. */
  | 'EXCLUDED'
  /** As it is learned. */
  | 'LEARNED'
  /** As the caller set it. */
  | 'PINNED';

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

/** The only inputs that are learned, all short texts. */
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
   };

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
   };

export type SetLearningMutationVariables = Exact<{
  paused: boolean;
  caller?: string | null | undefined;
}>;


export type SetLearningMutation = { setLearning:
    | { __typename: 'DefaultsSuccess', defaults: { learningPaused: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };

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