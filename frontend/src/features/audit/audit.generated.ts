/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
/** Filters for the audit log. All given fields must match; within a field, any value. */
export type AuditFilter = {
  /** Only these commands. */
  actions?: Array<string> | null | undefined;
  /** Only actions of these callers, by id. */
  actors?: Array<string> | null | undefined;
  /** Only entries created before this time. */
  createdBefore?: string | null | undefined;
  /** Only entries created at or after this time. */
  createdFrom?: string | null | undefined;
  /** Words to search for in the detail. */
  text?: string | null | undefined;
};

export type AuditQueryVariables = Exact<{
  filter?: AuditFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type AuditQuery = { audit: { totalCount: number, nodes: Array<{ id: string, at: string, action: string, accepted: boolean, detail: unknown, actor: { id: string, name: string } | null, onBehalfOf: { id: string, name: string } | null, target:
        | { __typename: 'ApiToken', id: string, token: string }
        | { __typename: 'Artifact', id: string, file: string }
        | { __typename: 'Attempt', id: string }
        | { __typename: 'AuditEntry', id: string }
        | { __typename: 'Caller', id: string, caller: string }
        | { __typename: 'Credential', id: string, handle: string }
        | { __typename: 'GapProposal', id: string }
        | { __typename: 'MemoryEntry', id: string }
        | { __typename: 'Pack', id: string, called: string }
        | { __typename: 'Pipeline', key: string, name: string, id: string }
        | { __typename: 'PipelineVersion', id: string }
        | { __typename: 'Run', title: string, id: string }
        | { __typename: 'RunStep', id: string }
        | { __typename: 'Trigger', id: string }
       | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type AuditActorsQueryVariables = Exact<{ [key: string]: never; }>;


export type AuditActorsQuery = { callers: { nodes: Array<{ id: string, name: string }> } };


export const AuditDocument = /*#__PURE__*/ gql`
    query Audit($filter: AuditFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  audit(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      id
      at
      action
      accepted
      detail
      actor {
        id
        name
      }
      onBehalfOf {
        id
        name
      }
      target {
        __typename
        id
        ... on Run {
          title
        }
        ... on Pipeline {
          key
          name
        }
        ... on Pack {
          called: name
        }
        ... on Credential {
          handle: key
        }
        ... on Artifact {
          file: name
        }
        ... on ApiToken {
          token: name
        }
        ... on Caller {
          caller: name
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
}
    ` as unknown as DocumentNode<AuditQuery, AuditQueryVariables>;
export const AuditActorsDocument = /*#__PURE__*/ gql`
    query AuditActors {
  callers(first: 100) {
    nodes {
      id
      name
    }
  }
}
    ` as unknown as DocumentNode<AuditActorsQuery, AuditActorsQueryVariables>;