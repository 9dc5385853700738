/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** A bearer token to be. */
export type CreateTokenInput = {
  /** When it stops working; never when absent. */
  expiresAt?: string | null | undefined;
  /** Name shown to people. */
  name: string;
  /** What it allows. */
  scopes: Array<Scope>;
  /** Subject of the caller it stands for, made when new; the one asking when absent. */
  subject?: string | null | undefined;
};

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

export type TokensQueryVariables = Exact<{
  text?: string | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type TokensQuery = { callers: { nodes: Array<{ id: string, name: string, subject: string, lastSeenAt: string | null, scopes: Array<Scope>, tokens: { nodes: Array<{ id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null }>, pageInfo: { hasNextPage: boolean } } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, viewer: { id: string, name: string, subject: string, scopes: Array<Scope> } };

export type TokenRowFragment = { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null };

export type CreateTokenMutationVariables = Exact<{
  input: CreateTokenInput;
}>;


export type CreateTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', plaintext: string, token: { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null, caller: { id: string, name: string } } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   };

export type RevokeTokenMutationVariables = Exact<{
  id: string;
}>;


export type RevokeTokenMutation = { revokeToken:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RevokeTokenSuccess', token: { id: string, name: string, beginning: string, scopes: Array<Scope>, createdAt: string, expiresAt: string | null, lastUsedAt: string | null, revokedAt: string | null } }
   };

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
}
    ` as unknown as DocumentNode<TokenRowFragment, unknown>;
export const TokensDocument = /*#__PURE__*/ gql`
    query Tokens($text: String, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  callers(text: $text, first: $first, after: $after, last: $last, before: $before) {
    nodes {
      id
      name
      subject
      lastSeenAt
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
    ${TokenRowFragmentDoc}` as unknown as DocumentNode<TokensQuery, TokensQueryVariables>;
export const CreateTokenDocument = /*#__PURE__*/ gql`
    mutation CreateToken($input: CreateTokenInput!) {
  createToken(input: $input) {
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