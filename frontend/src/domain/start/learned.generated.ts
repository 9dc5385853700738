/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc } from '../fragments.generated.ts';
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

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

export type LearnedQueryVariables = Exact<{
  target: string;
}>;


export type LearnedQuery = { myDefaults: { packs: Array<{ target: string, uses: number, values: Array<{ field: LearnedField, value: string | null, count: number, source: string, pinned: boolean }> }>, pipelines: Array<{ target: string, uses: number, values: Array<{ field: LearnedField, value: string | null, count: number, source: string, pinned: boolean }> }> } };

export type LearnedChoicesFragment = { target: string, uses: number, values: Array<{ field: LearnedField, value: string | null, count: number, source: string, pinned: boolean }> };

export type NeverLearnMutationVariables = Exact<{
  target: string;
  field: LearnedField;
}>;


export type NeverLearnMutation = { setDefault:
    | { __typename: 'DefaultsSuccess', defaults: { learningPaused: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const LearnedChoicesFragmentDoc = /*#__PURE__*/ gql`
    fragment LearnedChoices on EntryDefaults {
  target
  uses
  values {
    field
    value
    count
    source
    pinned
  }
}
    ` as unknown as DocumentNode<LearnedChoicesFragment, unknown>;
export const LearnedDocument = /*#__PURE__*/ gql`
    query Learned($target: ID!) {
  myDefaults(target: $target) {
    packs {
      ...LearnedChoices
    }
    pipelines {
      ...LearnedChoices
    }
  }
}
    ${LearnedChoicesFragmentDoc}` as unknown as DocumentNode<LearnedQuery, LearnedQueryVariables>;
export const NeverLearnDocument = /*#__PURE__*/ gql`
    mutation NeverLearn($target: ID!, $field: LearnedField!) {
  setDefault(target: $target, field: $field, rule: EXCLUDED) {
    __typename
    ...ProblemParts
    ... on DefaultsSuccess {
      defaults {
        learningPaused
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<NeverLearnMutation, NeverLearnMutationVariables>;