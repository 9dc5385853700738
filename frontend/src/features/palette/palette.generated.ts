/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
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

export type PaletteFoundQueryVariables = Exact<{
  text?: string | null | undefined;
}>;


export type PaletteFoundQuery = { catalog: { nodes: Array<
      | { __typename: 'Pack', id: string, name: string }
      | { __typename: 'Pipeline', key: string, id: string, name: string }
    > }, runs: { nodes: Array<{ id: string, title: string, state: RunState, createdAt: string }> } };


export const PaletteFoundDocument = /*#__PURE__*/ gql`
    query PaletteFound($text: String) {
  catalog(filter: {text: $text}, first: 12) {
    nodes {
      __typename
      id
      name
      ... on Pipeline {
        key
      }
    }
  }
  runs(filter: {text: $text}, first: 8) {
    nodes {
      id
      title
      state
      createdAt
    }
  }
}
    ` as unknown as DocumentNode<PaletteFoundQuery, PaletteFoundQueryVariables>;