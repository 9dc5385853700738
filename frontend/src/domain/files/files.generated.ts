/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
export type FileChoicesQueryVariables = Exact<{
  text?: string | null | undefined;
}>;


export type FileChoicesQuery = { artifacts: { nodes: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, createdAt: string }> } };


export const FileChoicesDocument = /*#__PURE__*/ gql`
    query FileChoices($text: String) {
  artifacts(filter: {text: $text}, first: 12) {
    nodes {
      id
      name
      mediaType
      sizeBytes
      createdAt
    }
  }
}
    ` as unknown as DocumentNode<FileChoicesQuery, FileChoicesQueryVariables>;