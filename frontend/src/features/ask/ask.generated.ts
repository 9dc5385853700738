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

/** A GapWarning to save. */
export type GapWarningInput = {
  /** Name of what the catalog cannot do. */
  missingCapability: string;
  /** What would provide it. */
  proposal: ProposalInput;
  /** Why nothing in the catalog does it. */
  whyMissing: string;
};

/** Where the value of a suggested input comes from. */
export type InputSource =
  /** The context passed with the request. */
  | 'CONTEXT'
  /** The caller's learned defaults. */
  | 'DEFAULTS'
  /** The routing model, from the request or its context. */
  | 'MODEL'
  /** The words of the request. */
  | 'REQUEST';

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

/** A Proposal to save with a gap. */
export type ProposalInput = {
  /** What to do. */
  action: GapAction;
  /** Schema of the inputs it would take. */
  inputSchema: unknown;
  /** How it would reach the service or data it needs. */
  integrationPattern: string;
  /** Suggested name: `area.verb` of a pack, `some-words` of a pipeline. */
  name: string;
  /** Schema of the output it would return. */
  outputSchema: unknown;
  /** The packs a pipeline would run, in order. Empty for a pack. */
  packs: Array<string>;
  /** What it would do. */
  summary: string;
  /** Why it would be useful. */
  whyUseful: string;
};

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

/** What a route recommends. */
export type RouteKind =
  /** Nothing suitable was found. */
  | 'NONE'
  /** A single pack. */
  | 'PACK'
  /** A pipeline. */
  | 'PIPELINE';

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

export type AskRouterQueryVariables = Exact<{ [key: string]: never; }>;


export type AskRouterQuery = { modelRoles: Array<{ role: string, chain: Array<{ key: string, availability: { usable: boolean } }> }> };

export type AskRouteQueryVariables = Exact<{
  request: string;
  context?: unknown;
}>;


export type AskRouteQuery = { route: { reasoning: string, decidedBy: string, recommendation: { kind: RouteKind, id: string | null, suggestedInputs: unknown, missingInputs: Array<string>, why: string, confidence: number, inputSources: Array<{ name: string, source: InputSource }> }, alternatives: Array<{ kind: RouteKind, id: string, suggestedInputs: unknown, missingInputs: Array<string>, why: string, confidence: number, inputSources: Array<{ name: string, source: InputSource }> }>, gapWarnings: Array<{ missingCapability: string, whyMissing: string, proposal: { action: GapAction, name: string, summary: string, packs: Array<string>, inputSchema: unknown, outputSchema: unknown, integrationPattern: string, whyUseful: string } }> } };

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
  gap: GapWarningInput;
}>;


export type SaveGapMutation = { saveGapProposal:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'GapProposalSuccess', proposal: { id: string, issueText: string | null } }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

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
    gapWarnings {
      missingCapability
      whyMissing
      proposal {
        action
        name
        summary
        packs
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
    mutation SaveGap($request: String!, $gap: GapWarningInput!) {
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