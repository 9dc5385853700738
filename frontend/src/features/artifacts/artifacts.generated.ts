/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc, ArtifactRowFragmentDoc } from '../../domain/fragments.generated.ts';
/** Filters for artifacts. All given fields must match; within a field, any value. */
export type ArtifactFilter = {
  /** Only artifacts created before this time. */
  createdBefore?: string | null | undefined;
  /** Only artifacts created at or after this time. */
  createdFrom?: string | null | undefined;
  /** Only these media types; `image/*` matches all images. */
  mediaTypes?: Array<string> | null | undefined;
  /** True: only pinned artifacts. False: only artifacts that are not pinned. */
  pinned?: boolean | null | undefined;
  /** Only artifacts from runs of these pipelines, by id, key or alias. */
  pipelines?: Array<string> | null | undefined;
  /** Only artifacts with one of these statuses. */
  statuses?: Array<ArtifactStatus> | null | undefined;
  /** Words to search for in names. */
  text?: string | null | undefined;
};

/** Sort order of artifacts. */
export type ArtifactOrder =
  /** Largest first. */
  | 'LARGEST'
  /** Newest first. */
  | 'NEWEST';

/** How far the content of an artifact can be trusted. */
export type ArtifactStatus =
  /** Made by an agent and not verified. */
  | 'PROPOSED'
  /** Contains a known secret. It cannot be downloaded. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions passed. */
  | 'STORED'
  /** Made by an agent, and then read by a later deterministic step that succeeded. */
  | 'VERIFIED';

/** The kind of preview available for an artifact. */
export type PreviewKind =
  /** A frame of a video, as an image. */
  | 'FRAME'
  /** None; `previewProblem` says why. */
  | 'NONE'
  /** An image of the first page of a document. */
  | 'PAGE'
  /** A smaller version of the image. */
  | 'PICTURE'
  /** The beginning of its text, in `preview`. */
  | 'TEXT'
  /** The loudness of a sound over time, in `waveform`. */
  | 'WAVEFORM';

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

export type ArtifactsQueryVariables = Exact<{
  filter?: ArtifactFilter | null | undefined;
  orderBy: ArtifactOrder;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type ArtifactsQuery = { artifacts: { totalCount: number, nodes: Array<{ previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, run: { id: string, title: string } | null, verifiedBy: { id: string, key: string } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type ArtifactPipelinesQueryVariables = Exact<{ [key: string]: never; }>;


export type ArtifactPipelinesQuery = { pipelines: { nodes: Array<{ id: string, key: string, name: string }> } };

export type ArtifactPageQueryVariables = Exact<{
  id: string;
}>;


export type ArtifactPageQuery = { node:
    | { id: string }
    | { digest: string, downloadUrl: string | null, previewUrl: string | null, previewKind: PreviewKind | null, previewProblem: string | null, pageCount: number | null, width: number | null, height: number | null, durationSeconds: number | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, run: { id: string, title: string, artifacts: { nodes: Array<{ id: string, name: string, mediaType: string }> } } | null, producedBy: { id: string, runStep: { id: string, key: string, warnings: Array<string> } } | null, verifiedBy: { id: string, key: string } | null }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ArtifactLookQueryVariables = Exact<{
  id: string;
}>;


export type ArtifactLookQuery = { node:
    | { id: string }
    | { previewUrl: string | null, previewKind: PreviewKind | null, previewProblem: string | null, pageCount: number | null, width: number | null, height: number | null, durationSeconds: number | null, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ArtifactAddressQueryVariables = Exact<{
  id: string;
}>;


export type ArtifactAddressQuery = { node:
    | { id: string }
    | { downloadUrl: string | null, id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ArtifactTextQueryVariables = Exact<{
  id: string;
  limitBytes: number;
}>;


export type ArtifactTextQuery = { artifactText: { text: string | null, nextOffset: number | null, artifact: { id: string } } | null };

export type PipelinesTakingQueryVariables = Exact<{
  kinds: Array<string> | string;
}>;


export type PipelinesTakingQuery = { catalog: { nodes: Array<
      | { __typename: 'Pack', id: string, name: string, inputSchema: unknown, metadata: { accepts: Array<string>, produces: Array<string> } }
      | { __typename: 'Pipeline', key: string, id: string, name: string, inputSchema: unknown, metadata: { accepts: Array<string>, produces: Array<string> } }
    > } };

export type PinArtifactMutationVariables = Exact<{
  id: string;
  pinned: boolean;
}>;


export type PinArtifactMutation = { pinArtifact:
    | { __typename: 'ArtifactSuccess', artifact: { id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type ReleaseArtifactMutationVariables = Exact<{
  id: string;
}>;


export type ReleaseArtifactMutation = { releaseArtifact:
    | { __typename: 'ArtifactSuccess', artifact: { downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null } }
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };


export const ArtifactsDocument = /*#__PURE__*/ gql`
    query Artifacts($filter: ArtifactFilter, $orderBy: ArtifactOrder!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  artifacts(
    filter: $filter
    orderBy: $orderBy
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      ...ArtifactRow
      previewUrl
      run {
        id
        title
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
    ${ArtifactRowFragmentDoc}` as unknown as DocumentNode<ArtifactsQuery, ArtifactsQueryVariables>;
export const ArtifactPipelinesDocument = /*#__PURE__*/ gql`
    query ArtifactPipelines {
  pipelines(first: 100, orderBy: NAME) {
    nodes {
      id
      key
      name
    }
  }
}
    ` as unknown as DocumentNode<ArtifactPipelinesQuery, ArtifactPipelinesQueryVariables>;
export const ArtifactPageDocument = /*#__PURE__*/ gql`
    query ArtifactPage($id: ID!) {
  node(id: $id) {
    id
    ... on Artifact {
      ...ArtifactRow
      digest
      downloadUrl
      previewUrl
      previewKind
      previewProblem
      pageCount
      width
      height
      durationSeconds
      run {
        id
        title
        artifacts(first: 100) {
          nodes {
            id
            name
            mediaType
          }
        }
      }
      producedBy {
        id
        runStep {
          id
          key
          warnings
        }
      }
    }
  }
}
    ${ArtifactRowFragmentDoc}` as unknown as DocumentNode<ArtifactPageQuery, ArtifactPageQueryVariables>;
export const ArtifactLookDocument = /*#__PURE__*/ gql`
    query ArtifactLook($id: ID!) {
  node(id: $id) {
    id
    ... on Artifact {
      previewUrl
      previewKind
      previewProblem
      pageCount
      width
      height
      durationSeconds
    }
  }
}
    ` as unknown as DocumentNode<ArtifactLookQuery, ArtifactLookQueryVariables>;
export const ArtifactAddressDocument = /*#__PURE__*/ gql`
    query ArtifactAddress($id: ID!) {
  node(id: $id) {
    id
    ... on Artifact {
      downloadUrl
    }
  }
}
    ` as unknown as DocumentNode<ArtifactAddressQuery, ArtifactAddressQueryVariables>;
export const ArtifactTextDocument = /*#__PURE__*/ gql`
    query ArtifactText($id: ID!, $limitBytes: Int!) {
  artifactText(id: $id, limitBytes: $limitBytes) {
    artifact {
      id
    }
    text
    nextOffset
  }
}
    ` as unknown as DocumentNode<ArtifactTextQuery, ArtifactTextQueryVariables>;
export const PipelinesTakingDocument = /*#__PURE__*/ gql`
    query PipelinesTaking($kinds: [String!]!) {
  catalog(filter: {kind: PIPELINE, accepts: $kinds}, first: 50) {
    nodes {
      __typename
      id
      name
      inputSchema
      metadata {
        accepts
        produces
      }
      ... on Pipeline {
        key
      }
    }
  }
}
    ` as unknown as DocumentNode<PipelinesTakingQuery, PipelinesTakingQueryVariables>;
export const PinArtifactDocument = /*#__PURE__*/ gql`
    mutation PinArtifact($id: ID!, $pinned: Boolean!) {
  pinArtifact(id: $id, pinned: $pinned) {
    __typename
    ...ProblemParts
    ... on ArtifactSuccess {
      artifact {
        ...ArtifactRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<PinArtifactMutation, PinArtifactMutationVariables>;
export const ReleaseArtifactDocument = /*#__PURE__*/ gql`
    mutation ReleaseArtifact($id: ID!) {
  releaseArtifact(id: $id) {
    __typename
    ...ProblemParts
    ... on ArtifactSuccess {
      artifact {
        ...ArtifactRow
        downloadUrl
        previewUrl
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<ReleaseArtifactMutation, ReleaseArtifactMutationVariables>;