/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
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

export type ProposalsQueryVariables = Exact<{
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type ProposalsQuery = { gapProposals: { nodes: Array<{ id: string, userIntent: string, createdAt: string, issueText: string, issueInput: unknown, createdBy: { id: string, name: string }, gap: { missingCapability: string, proposedPack: { name: string, whyUseful: string } } }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type DeleteProposalMutationVariables = Exact<{
  id: string;
}>;


export type DeleteProposalMutation = { deleteGapProposal:
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };


export const ProposalsDocument = /*#__PURE__*/ gql`
    query Proposals($first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  gapProposals(first: $first, after: $after, last: $last, before: $before) {
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
        proposedPack {
          name
          whyUseful
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