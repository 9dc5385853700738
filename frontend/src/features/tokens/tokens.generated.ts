/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
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

export type TokensQueryVariables = Exact<{
  text?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type TokensQuery = { callers: { nodes: Array<{ scopes: Array<Scope>, id: string, name: string, subject: string, lastSeenAt: string | null, disabledAt: string | null, fromProvider: boolean, tokens: { nodes: Array<{ id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, madeBy: { id: string, name: string, disabledAt: string | null } | null }>, pageInfo: { hasNextPage: boolean } } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, viewer: { id: string, name: string, subject: string, scopes: Array<Scope> } };

export type CallerRowFragment = { id: string, name: string, subject: string, lastSeenAt: string | null, disabledAt: string | null, fromProvider: boolean };

export type TokenRowFragment = { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, madeBy: { id: string, name: string, disabledAt: string | null } | null };

export type CreateTokenMutationVariables = Exact<{
  name: string;
  scopes: Array<Scope> | Scope;
  subject?: string | null | undefined;
  expiresAt?: string | null | undefined;
}>;


export type CreateTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', plaintext: string, token: { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, caller: { id: string, name: string }, madeBy: { id: string, name: string, disabledAt: string | null } | null } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type RevokeTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeTokenMutation = { revokeToken:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RevokeTokenSuccess', token: { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, madeBy: { id: string, name: string, disabledAt: string | null } | null } }
   | null };

export type DisableCallerMutationVariables = Exact<{
  caller: string;
}>;


export type DisableCallerMutation = { disableCaller:
    | { __typename: 'DisableCallerSuccess', caller: { id: string, name: string, subject: string, lastSeenAt: string | null, disabledAt: string | null, fromProvider: boolean }, tokensForOthers: Array<{ id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, caller: { id: string, name: string }, madeBy: { id: string, name: string, disabledAt: string | null } | null }> }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type EnableCallerMutationVariables = Exact<{
  caller: string;
}>;


export type EnableCallerMutation = { enableCaller:
    | { __typename: 'EnableCallerSuccess', caller: { id: string, name: string, subject: string, lastSeenAt: string | null, disabledAt: string | null, fromProvider: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const CallerRowFragmentDoc = /*#__PURE__*/ gql`
    fragment CallerRow on Caller {
  id
  name
  subject
  lastSeenAt
  disabledAt
  fromProvider
}
    ` as unknown as DocumentNode<CallerRowFragment, unknown>;
export const TokenRowFragmentDoc = /*#__PURE__*/ gql`
    fragment TokenRow on ApiToken {
  id
  name
  beginning
  scopes
  createdAt
  expiresAt
  lastUsedAt
  revokedAt
  madeBy {
    id
    name
    disabledAt
  }
}
    ` as unknown as DocumentNode<TokenRowFragment, unknown>;
export const TokensDocument = /*#__PURE__*/ gql`
    query Tokens($text: String, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  callers(
    filter: {text: $text}
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    nodes {
      ...CallerRow
      scopes
      tokens(first: 20) {
        nodes {
          ...TokenRow
        }
        pageInfo {
          hasNextPage
        }
      }
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
    name
    subject
    scopes
  }
}
    ${CallerRowFragmentDoc}
${TokenRowFragmentDoc}` as unknown as DocumentNode<TokensQuery, TokensQueryVariables>;
export const CreateTokenDocument = /*#__PURE__*/ gql`
    mutation CreateToken($name: String!, $scopes: [Scope!]!, $subject: String, $expiresAt: DateTime) {
  createToken(
    name: $name
    scopes: $scopes
    subject: $subject
    expiresAt: $expiresAt
  ) {
    __typename
    ...ProblemParts
    ... on CreateTokenSuccess {
      plaintext
      token {
        ...TokenRow
        caller {
          id
          name
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TokenRowFragmentDoc}` as unknown as DocumentNode<CreateTokenMutation, CreateTokenMutationVariables>;
export const RevokeTokenDocument = /*#__PURE__*/ gql`
    mutation RevokeToken($id: ID!) {
  revokeToken(id: $id) {
    __typename
    ...ProblemParts
    ... on RevokeTokenSuccess {
      token {
        ...TokenRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${TokenRowFragmentDoc}` as unknown as DocumentNode<RevokeTokenMutation, RevokeTokenMutationVariables>;
export const DisableCallerDocument = /*#__PURE__*/ gql`
    mutation DisableCaller($caller: String!) {
  disableCaller(caller: $caller) {
    __typename
    ...ProblemParts
    ... on DisableCallerSuccess {
      caller {
        ...CallerRow
      }
      tokensForOthers {
        ...TokenRow
        caller {
          id
          name
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${CallerRowFragmentDoc}
${TokenRowFragmentDoc}` as unknown as DocumentNode<DisableCallerMutation, DisableCallerMutationVariables>;
export const EnableCallerDocument = /*#__PURE__*/ gql`
    mutation EnableCaller($caller: String!) {
  enableCaller(caller: $caller) {
    __typename
    ...ProblemParts
    ... on EnableCallerSuccess {
      caller {
        ...CallerRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${CallerRowFragmentDoc}` as unknown as DocumentNode<EnableCallerMutation, EnableCallerMutationVariables>;