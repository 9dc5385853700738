/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** What to do about a missing capability. */
export type GapAction =
  /** Draft a pipeline: existing packs do it in a chain. */
  | 'DRAFT_PIPELINE'
  /** Write a pack: no pack does it. */
  | 'PROPOSE_PACK';

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

export type ProposalsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type ProposalsQuery = { gapProposals: { totalCount: number, nodes: Array<{ id: string, userIntent: string, createdAt: string, issueText: string | null, issueInput: unknown, createdBy: { id: string, name: string }, gap: { missingCapability: string, whyMissing: string, proposal: { action: GapAction, name: string, summary: string, packs: Array<string>, inputSchema: unknown } } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type DeleteProposalMutationVariables = Exact<{
  id: string;
}>;


export type DeleteProposalMutation = { deleteGapProposal:
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };


export const ProposalsDocument = /*#__PURE__*/ gql`
    query Proposals($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  gapProposals(first: $first, after: $after, last: $last, before: $before) {
    totalCount
    nodes {
      id
      userIntent
      createdAt
      issueText
      issueInput
      createdBy {
        id
        name
      }
      gap {
        missingCapability
        whyMissing
        proposal {
          action
          name
          summary
          packs
          inputSchema
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
    ` as unknown as DocumentNode<ProposalsQuery, ProposalsQueryVariables>;
export const DeleteProposalDocument = /*#__PURE__*/ gql`
    mutation DeleteProposal($id: ID!) {
  deleteGapProposal(id: $id) {
    __typename
    ...ProblemParts
    ... on DeleteSuccess {
      deletedId
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DeleteProposalMutation, DeleteProposalMutationVariables>;