/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
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