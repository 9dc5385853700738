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

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

export type CredentialRowFragment = { id: string, key: string, kind: string, description: string | null, fieldsSet: Array<string>, fingerprint: string, createdAt: string, updatedAt: string, expiresAt: string | null, lastUsedAt: string | null, readable: boolean, lastTest: { at: string, accepted: boolean, message: string } | null, neededBy: Array<{ id: string, name: string }> };

export type GrantTarget_ApiToken_Fragment = { __typename: 'ApiToken', id: string };

export type GrantTarget_Artifact_Fragment = { __typename: 'Artifact', id: string };

export type GrantTarget_Attempt_Fragment = { __typename: 'Attempt', id: string };

export type GrantTarget_AuditEntry_Fragment = { __typename: 'AuditEntry', id: string };

export type GrantTarget_Caller_Fragment = { __typename: 'Caller', subject: string, id: string, called: string };

export type GrantTarget_Credential_Fragment = { __typename: 'Credential', id: string };

export type GrantTarget_GapProposal_Fragment = { __typename: 'GapProposal', id: string };

export type GrantTarget_MemoryEntry_Fragment = { __typename: 'MemoryEntry', id: string };

export type GrantTarget_Pack_Fragment = { __typename: 'Pack', name: string, id: string };

export type GrantTarget_Pipeline_Fragment = { __typename: 'Pipeline', key: string, id: string, title: string };

export type GrantTarget_PipelineVersion_Fragment = { __typename: 'PipelineVersion', id: string };

export type GrantTarget_Run_Fragment = { __typename: 'Run', id: string };

export type GrantTarget_RunStep_Fragment = { __typename: 'RunStep', id: string };

export type GrantTarget_Trigger_Fragment = { __typename: 'Trigger', id: string };

export type GrantTargetFragment =
  | GrantTarget_ApiToken_Fragment
  | GrantTarget_Artifact_Fragment
  | GrantTarget_Attempt_Fragment
  | GrantTarget_AuditEntry_Fragment
  | GrantTarget_Caller_Fragment
  | GrantTarget_Credential_Fragment
  | GrantTarget_GapProposal_Fragment
  | GrantTarget_MemoryEntry_Fragment
  | GrantTarget_Pack_Fragment
  | GrantTarget_Pipeline_Fragment
  | GrantTarget_PipelineVersion_Fragment
  | GrantTarget_Run_Fragment
  | GrantTarget_RunStep_Fragment
  | GrantTarget_Trigger_Fragment
;

export type CredentialKindPartsFragment = { name: string, description: string, freeFields: boolean, testable: boolean, fields: Array<{ name: string, description: string, secret: boolean, required: boolean, multiline: boolean }> };

export type CredentialsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CredentialsQuery = { credentials: { totalCount: number, nodes: Array<{ id: string, key: string, kind: string, description: string | null, fieldsSet: Array<string>, fingerprint: string, createdAt: string, updatedAt: string, expiresAt: string | null, lastUsedAt: string | null, readable: boolean, grants: Array<
        | { __typename: 'ApiToken', id: string }
        | { __typename: 'Artifact', id: string }
        | { __typename: 'Attempt', id: string }
        | { __typename: 'AuditEntry', id: string }
        | { __typename: 'Caller', subject: string, id: string, called: string }
        | { __typename: 'Credential', id: string }
        | { __typename: 'GapProposal', id: string }
        | { __typename: 'MemoryEntry', id: string }
        | { __typename: 'Pack', name: string, id: string }
        | { __typename: 'Pipeline', key: string, id: string, title: string }
        | { __typename: 'PipelineVersion', id: string }
        | { __typename: 'Run', id: string }
        | { __typename: 'RunStep', id: string }
        | { __typename: 'Trigger', id: string }
      >, lastTest: { at: string, accepted: boolean, message: string } | null, neededBy: Array<{ id: string, name: string }> }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } }, credentialKinds: Array<{ name: string, description: string, freeFields: boolean, testable: boolean, fields: Array<{ name: string, description: string, secret: boolean, required: boolean, multiline: boolean }> }> };

export type CredentialPageQueryVariables = Exact<{
  id: string;
}>;


export type CredentialPageQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, key: string, kind: string, description: string | null, fieldsSet: Array<string>, fingerprint: string, createdAt: string, updatedAt: string, expiresAt: string | null, lastUsedAt: string | null, readable: boolean, grants: Array<
        | { __typename: 'ApiToken', id: string }
        | { __typename: 'Artifact', id: string }
        | { __typename: 'Attempt', id: string }
        | { __typename: 'AuditEntry', id: string }
        | { __typename: 'Caller', subject: string, id: string, called: string }
        | { __typename: 'Credential', id: string }
        | { __typename: 'GapProposal', id: string }
        | { __typename: 'MemoryEntry', id: string }
        | { __typename: 'Pack', name: string, id: string }
        | { __typename: 'Pipeline', key: string, id: string, title: string }
        | { __typename: 'PipelineVersion', id: string }
        | { __typename: 'Run', id: string }
        | { __typename: 'RunStep', id: string }
        | { __typename: 'Trigger', id: string }
      >, lastTest: { at: string, accepted: boolean, message: string } | null, neededBy: Array<{ id: string, name: string }> }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null, credentialKinds: Array<{ name: string, description: string, freeFields: boolean, testable: boolean, fields: Array<{ name: string, description: string, secret: boolean, required: boolean, multiline: boolean }> }> };

export type GrantChoicesQueryVariables = Exact<{
  text?: string | null | undefined;
}>;


export type GrantChoicesQuery = { packs: { nodes: Array<
      | { id: string }
      | { id: string }
    >, pageInfo: { hasNextPage: boolean } }, pipelines: { nodes: Array<{ id: string, key: string, name: string }>, pageInfo: { hasNextPage: boolean } }, callers: { nodes: Array<{ id: string, name: string, subject: string }>, pageInfo: { hasNextPage: boolean } } };

export type SetCredentialMutationVariables = Exact<{
  key: string;
  kind: string;
  description?: string | null | undefined;
  fields?: unknown;
  addGrants?: Array<string> | string | null | undefined;
  removeGrants?: Array<string> | string | null | undefined;
  expiresAt?: string | null | undefined;
}>;


export type SetCredentialMutation = { setCredential:
    | { __typename: 'CredentialSuccess', credential: { id: string, key: string, kind: string, description: string | null, fieldsSet: Array<string>, fingerprint: string, createdAt: string, updatedAt: string, expiresAt: string | null, lastUsedAt: string | null, readable: boolean, grants: Array<
          | { __typename: 'ApiToken', id: string }
          | { __typename: 'Artifact', id: string }
          | { __typename: 'Attempt', id: string }
          | { __typename: 'AuditEntry', id: string }
          | { __typename: 'Caller', subject: string, id: string, called: string }
          | { __typename: 'Credential', id: string }
          | { __typename: 'GapProposal', id: string }
          | { __typename: 'MemoryEntry', id: string }
          | { __typename: 'Pack', name: string, id: string }
          | { __typename: 'Pipeline', key: string, id: string, title: string }
          | { __typename: 'PipelineVersion', id: string }
          | { __typename: 'Run', id: string }
          | { __typename: 'RunStep', id: string }
          | { __typename: 'Trigger', id: string }
        >, lastTest: { at: string, accepted: boolean, message: string } | null, neededBy: Array<{ id: string, name: string }> } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type TestCredentialMutationVariables = Exact<{
  id: string;
}>;


export type TestCredentialMutation = { testCredential:
    | { __typename: 'CredentialSuccess', credential: { id: string, key: string, kind: string, description: string | null, fieldsSet: Array<string>, fingerprint: string, createdAt: string, updatedAt: string, expiresAt: string | null, lastUsedAt: string | null, readable: boolean, lastTest: { at: string, accepted: boolean, message: string } | null, neededBy: Array<{ id: string, name: string }> } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type DeleteCredentialMutationVariables = Exact<{
  id: string;
}>;


export type DeleteCredentialMutation = { deleteCredential:
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const CredentialRowFragmentDoc = /*#__PURE__*/ gql`
    fragment CredentialRow on Credential {
  id
  key
  kind
  description
  fieldsSet
  fingerprint
  createdAt
  updatedAt
  expiresAt
  lastUsedAt
  readable
  lastTest {
    at
    accepted
    message
  }
  neededBy {
    id
    name
  }
}
    ` as unknown as DocumentNode<CredentialRowFragment, unknown>;
export const GrantTargetFragmentDoc = /*#__PURE__*/ gql`
    fragment GrantTarget on Node {
  __typename
  id
  ... on Pack {
    name
  }
  ... on Pipeline {
    key
    title: name
  }
  ... on Caller {
    subject
    called: name
  }
}
    ` as unknown as DocumentNode<GrantTargetFragment, unknown>;
export const CredentialKindPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment CredentialKindParts on CredentialKind {
  name
  description
  freeFields
  testable
  fields {
    name
    description
    secret
    required
    multiline
  }
}
    ` as unknown as DocumentNode<CredentialKindPartsFragment, unknown>;
export const CredentialsDocument = /*#__PURE__*/ gql`
    query Credentials($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  credentials(first: $first, after: $after, last: $last, before: $before) {
    totalCount
    nodes {
      ...CredentialRow
      grants {
        ...GrantTarget
      }
    }
    pageInfo {
      hasNextPage
      hasPreviousPage
      startCursor
      endCursor
    }
  }
  credentialKinds {
    ...CredentialKindParts
  }
}
    ${CredentialRowFragmentDoc}
${GrantTargetFragmentDoc}
${CredentialKindPartsFragmentDoc}` as unknown as DocumentNode<CredentialsQuery, CredentialsQueryVariables>;
export const CredentialPageDocument = /*#__PURE__*/ gql`
    query CredentialPage($id: ID!) {
  node(id: $id) {
    id
    ... on Credential {
      ...CredentialRow
      grants {
        ...GrantTarget
      }
    }
  }
  credentialKinds {
    ...CredentialKindParts
  }
}
    ${CredentialRowFragmentDoc}
${GrantTargetFragmentDoc}
${CredentialKindPartsFragmentDoc}` as unknown as DocumentNode<CredentialPageQuery, CredentialPageQueryVariables>;
export const GrantChoicesDocument = /*#__PURE__*/ gql`
    query GrantChoices($text: String) {
  packs: catalog(filter: {kind: PACK, text: $text}, first: 100) {
    nodes {
      id
    }
    pageInfo {
      hasNextPage
    }
  }
  pipelines(filter: {text: $text}, first: 100, orderBy: NAME) {
    nodes {
      id
      key
      name
    }
    pageInfo {
      hasNextPage
    }
  }
  callers(filter: {text: $text}, first: 100) {
    nodes {
      id
      name
      subject
    }
    pageInfo {
      hasNextPage
    }
  }
}
    ` as unknown as DocumentNode<GrantChoicesQuery, GrantChoicesQueryVariables>;
export const SetCredentialDocument = /*#__PURE__*/ gql`
    mutation SetCredential($key: Key!, $kind: String!, $description: String, $fields: JSON, $addGrants: [ID!], $removeGrants: [ID!], $expiresAt: DateTime) {
  setCredential(
    key: $key
    kind: $kind
    description: $description
    fields: $fields
    addGrants: $addGrants
    removeGrants: $removeGrants
    expiresAt: $expiresAt
  ) {
    __typename
    ...ProblemParts
    ... on CredentialSuccess {
      credential {
        ...CredentialRow
        grants {
          ...GrantTarget
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${CredentialRowFragmentDoc}
${GrantTargetFragmentDoc}` as unknown as DocumentNode<SetCredentialMutation, SetCredentialMutationVariables>;
export const TestCredentialDocument = /*#__PURE__*/ gql`
    mutation TestCredential($id: ID!) {
  testCredential(id: $id) {
    __typename
    ...ProblemParts
    ... on CredentialSuccess {
      credential {
        ...CredentialRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${CredentialRowFragmentDoc}` as unknown as DocumentNode<TestCredentialMutation, TestCredentialMutationVariables>;
export const DeleteCredentialDocument = /*#__PURE__*/ gql`
    mutation DeleteCredential($id: ID!) {
  deleteCredential(id: $id) {
    __typename
    ...ProblemParts
    ... on DeleteSuccess {
      deletedId
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DeleteCredentialMutation, DeleteCredentialMutationVariables>;