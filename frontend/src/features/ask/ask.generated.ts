/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** Where a suggested input came from. */
export type InputSource =
  /** What was said to be at hand. */
  | 'CONTEXT'
  /** What the caller usually chooses. */
  | 'DEFAULTS'
  /** The routing model, from the request or its context. */
  | 'MODEL'
  /** The request's own words. */
  | 'REQUEST';

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

/** What a route can lead to. */
export type RouteKind =
  /** Nothing fits. */
  | 'NONE'
  /** A single pack. */
  | 'PACK'
  /** A pipeline. */
  | 'PIPELINE';

/** How bad an issue is. */
export type Severity =
  /** Refused. */
  | 'ERROR'
  /** Worth knowing. */
  | 'WARNING';

export type AskRouterQueryVariables = Exact<{ [key: string]: never; }>;


export type AskRouterQuery = { modelRoles: Array<{ role: string, chain: Array<{ key: string, availability: { usable: boolean } }> }> };

export type AskRouteQueryVariables = Exact<{
  request: string;
  context?: unknown;
}>;


export type AskRouteQuery = { route: { reasoning: string, decidedBy: string, recommendation: { kind: RouteKind, id: string | null, suggestedInputs: unknown, missingInputs: Array<string>, why: string, confidence: number, inputSources: Array<{ name: string, source: InputSource }> }, alternatives: Array<{ kind: RouteKind, id: string, suggestedInputs: unknown, missingInputs: Array<string>, why: string, confidence: number, inputSources: Array<{ name: string, source: InputSource }> }>, gapWarning: { missingCapability: string, proposedPack: { name: string, inputSchema: unknown, outputSchema: unknown, integrationPattern: string, whyUseful: string } } | null } };

export type AskEntryQueryVariables = Exact<{
  id: string;
  isPack: boolean;
}>;


export type AskEntryQuery = { pack?: { id: string, name: string, inputSchema: unknown, metadata: { accepts: Array<string>, produces: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } } | null, pipeline?: { id: string, key: string, name: string, inputSchema: unknown, metadata: { accepts: Array<string>, produces: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } } | null };

export type AskedEntry_Pack_Fragment = { id: string, metadata: { accepts: Array<string>, produces: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } };

export type AskedEntry_Pipeline_Fragment = { id: string, metadata: { accepts: Array<string>, produces: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } };

export type AskedEntryFragment =
  | AskedEntry_Pack_Fragment
  | AskedEntry_Pipeline_Fragment
;

export type SaveGapMutationVariables = Exact<{
  request: string;
  gap: unknown;
}>;


export type SaveGapMutation = { saveGapProposal:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'GapProposalSuccess', proposal: { id: string, issueText: string } }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   };

export const AskedEntryFragmentDoc = /*#__PURE__*/ gql`
    fragment AskedEntry on CatalogEntry {
  id
  metadata {
    accepts
    produces
  }
  availability {
    usable
    missing {
      kind
      name
      message
      hint
    }
  }
}
    ` as unknown as DocumentNode<AskedEntryFragment, unknown>;
export const AskRouterDocument = /*#__PURE__*/ gql`
    query AskRouter {
  modelRoles {
    role
    chain {
      key
      availability {
        usable
      }
    }
  }
}
    ` as unknown as DocumentNode<AskRouterQuery, AskRouterQueryVariables>;
export const AskRouteDocument = /*#__PURE__*/ gql`
    query AskRoute($request: String!, $context: JSON) {
  route(userIntent: $request, context: $context) {
    recommendation {
      kind
      id
      suggestedInputs
      inputSources {
        name
        source
      }
      missingInputs
      why
      confidence
    }
    alternatives {
      kind
      id
      suggestedInputs
      inputSources {
        name
        source
      }
      missingInputs
      why
      confidence
    }
    gapWarning {
      missingCapability
      proposedPack {
        name
        inputSchema
        outputSchema
        integrationPattern
        whyUseful
      }
    }
    reasoning
    decidedBy
  }
}
    ` as unknown as DocumentNode<AskRouteQuery, AskRouteQueryVariables>;
export const AskEntryDocument = /*#__PURE__*/ gql`
    query AskEntry($id: ID!, $isPack: Boolean!) {
  pack(id: $id) @include(if: $isPack) {
    id
    name
    inputSchema
    ...AskedEntry
  }
  pipeline(id: $id) @skip(if: $isPack) {
    id
    key
    name
    inputSchema
    ...AskedEntry
  }
}
    ${AskedEntryFragmentDoc}` as unknown as DocumentNode<AskEntryQuery, AskEntryQueryVariables>;
export const SaveGapDocument = /*#__PURE__*/ gql`
    mutation SaveGap($request: String!, $gap: JSON!) {
  saveGapProposal(userIntent: $request, gap: $gap) {
    __typename
    ...ProblemParts
    ... on GapProposalSuccess {
      proposal {
        id
        issueText
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<SaveGapMutation, SaveGapMutationVariables>;