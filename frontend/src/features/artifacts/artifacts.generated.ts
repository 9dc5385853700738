/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc, ArtifactRowFragmentDoc } from '../../domain/fragments.generated.ts';
/** Which artifacts. */
export type ArtifactFilter = {
  /** Of one of these media types; `image/*` is understood. */
  mediaTypes?: Array<string> | null | undefined;
  /** Pinned only, or none of them. */
  pinned?: boolean | null | undefined;
  /** From runs of this pipeline. */
  pipeline?: string | null | undefined;
  /** Worth one of these. */
  statuses?: Array<ArtifactStatus> | null | undefined;
  /** Words in the name. */
  text?: string | null | undefined;
};

/** What an artifact is worth. */
export type ArtifactStatus =
  /** Made by an agent; nothing has vouched for it. */
  | 'PROPOSED'
  /** Holds a known secret; not handed out. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions held. */
  | 'STORED'
  /** Made by an agent; a later deterministic step read it and succeeded. */
  | 'VERIFIED';

/** What there is to see of an artifact at a glance. */
export type PreviewKind =
  /** A frame of a video, as a picture. */
  | 'FRAME'
  /** Nothing: `previewProblem` says why. */
  | 'NONE'
  /** The first page of a document, as a picture. */
  | 'PAGE'
  /** The picture itself, smaller. */
  | 'PICTURE'
  /** The beginning of its text, in `preview`. */
  | 'TEXT'
  /** How loud a sound is over its length, in `waveform`. */
  | 'WAVEFORM';

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

/** How bad an issue is. */
export type Severity =
  /** Refused. */
  | 'ERROR'
  /** Worth knowing. */
  | 'WARNING';

export type ArtifactsQueryVariables = Exact<{
  filter?: ArtifactFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type ArtifactsQuery = { artifacts: { nodes: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, run: { id: string, title: string } | null, verifiedBy: { id: string, key: string } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

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
   };

export type ReleaseArtifactMutationVariables = Exact<{
  id: string;
}>;


export type ReleaseArtifactMutation = { releaseArtifact:
    | { __typename: 'ArtifactSuccess', artifact: { downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null } }
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };


export const ArtifactsDocument = /*#__PURE__*/ gql`
    query Artifacts($filter: ArtifactFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  artifacts(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    nodes {
      ...ArtifactRow
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