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

export type StartPipelineMutationVariables = Exact<{
  pipeline: string;
  inputs: unknown;
  fromMemory: Array<LearnedField> | LearnedField;
  idempotencyKey?: string | null | undefined;
  agent?: string | null | undefined;
}>;


export type StartPipelineMutation = { runPipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', coalesced: boolean, run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type StartPackMutationVariables = Exact<{
  pack: string;
  input: unknown;
  fromMemory: Array<LearnedField> | LearnedField;
  idempotencyKey?: string | null | undefined;
}>;


export type StartPackMutation = { runPack:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };


export const StartPipelineDocument = /*#__PURE__*/ gql`
    mutation StartPipeline($pipeline: ID!, $inputs: JSON!, $fromMemory: [LearnedField!]!, $idempotencyKey: String, $agent: String) {
  runPipeline(
    pipeline: $pipeline
    inputs: $inputs
    fromMemory: $fromMemory
    idempotencyKey: $idempotencyKey
    agent: $agent
  ) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      coalesced
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<StartPipelineMutation, StartPipelineMutationVariables>;
export const StartPackDocument = /*#__PURE__*/ gql`
    mutation StartPack($pack: ID!, $input: JSON!, $fromMemory: [LearnedField!]!, $idempotencyKey: String) {
  runPack(
    pack: $pack
    input: $input
    fromMemory: $fromMemory
    idempotencyKey: $idempotencyKey
  ) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<StartPackMutation, StartPackMutationVariables>;