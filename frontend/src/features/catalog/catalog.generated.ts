/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
/** Filters for the catalog. All given fields must match. */
export type CatalogFilter = {
  /** Only entries that accept one of these kinds of data. */
  accepts?: Array<string> | null | undefined;
  /** Only packs or only pipelines. */
  kind?: CatalogKind | null | undefined;
  /** True: only entries for practice. False: none of them. By default, a search includes them only if its text names them, and a plain list includes all. */
  practice?: boolean | null | undefined;
  /** Only entries that produce one of these kinds of data. */
  produces?: Array<string> | null | undefined;
  /** Only packs from this kind of source. */
  source?: PackSourceKind | null | undefined;
  /** Words to search for in names, descriptions and metadata. Results are ordered by relevance. */
  text?: string | null | undefined;
  /** True: only entries that can run on this server. False: only those that cannot. */
  usable?: boolean | null | undefined;
};

/** Kinds of catalog entries. */
export type CatalogKind =
  /** Packs. */
  | 'PACK'
  /** Pipelines. */
  | 'PIPELINE';

/** How a pack changes external systems. */
export type PackEffects =
  /** Changes an external system on every call, such as sending mail or making a payment. */
  | 'EXTERNAL'
  /** Changes an external system, but repeating the call changes nothing more. */
  | 'IDEMPOTENT'
  /** Changes nothing outside Packline. */
  | 'NONE';

/** Kinds of pack sources. */
export type PackSourceKind =
  /** The packs that ship with Packline. */
  | 'BUILTIN_FOLDER'
  /** An installed distribution with the entry-point group `packline.packs`. */
  | 'ENTRY_POINT'
  /** A mounted MCP server. */
  | 'MCP_SERVER'
  /** A folder named in the settings. */
  | 'USER_FOLDER';

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

export type CatalogQueryVariables = Exact<{
  filter?: CatalogFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CatalogQuery = { catalog: { totalCount: number, nodes: Array<
      | { __typename: 'Pack', version: string, effects: PackEffects, id: string, name: string, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, practice: boolean }, availability: { usable: boolean, missing: Array<{ message: string }> } }
      | { __typename: 'Pipeline', key: string, id: string, name: string, steps: Array<
          | { __typename: 'AgentStep', key: string }
          | { __typename: 'PackStep', packName: string, key: string }
        >, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, practice: boolean }, availability: { usable: boolean, missing: Array<{ message: string }> } }
    >, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type CatalogKindsQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogKindsQuery = { routingGuide: { kinds: Array<{ name: string }> } };

export type PackPageQueryVariables = Exact<{
  id: string;
}>;


export type PackPageQuery = { pack: { id: string, name: string, description: string, version: string, effects: PackEffects, takesIdempotencyKey: boolean, credentials: Array<string>, services: Array<string>, modelRoles: Array<string>, costEstimate: string | null, postConditions: Array<string>, timeoutSeconds: number, repeatable: boolean, installedVersions: Array<string>, inputSchema: unknown, outputSchema: unknown, source: { kind: PackSourceKind, location: string }, metadata: { accepts: Array<string>, produces: Array<string>, exampleIntents: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean, derived: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, usedBy: { nodes: Array<{ id: string, key: string, name: string }> } } | null };


export const CatalogDocument = /*#__PURE__*/ gql`
    query Catalog($filter: CatalogFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  catalog(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
  ) {
    totalCount
    nodes {
      __typename
      id
      name
      metadata {
        accepts
        produces
        typicalUse
        practice
      }
      availability {
        usable
        missing {
          message
        }
      }
      ... on Pack {
        version
        effects
      }
      ... on Pipeline {
        key
        steps {
          __typename
          key
          ... on PackStep {
            packName
          }
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
    ` as unknown as DocumentNode<CatalogQuery, CatalogQueryVariables>;
export const CatalogKindsDocument = /*#__PURE__*/ gql`
    query CatalogKinds {
  routingGuide(first: 1) {
    kinds {
      name
    }
  }
}
    ` as unknown as DocumentNode<CatalogKindsQuery, CatalogKindsQueryVariables>;
export const PackPageDocument = /*#__PURE__*/ gql`
    query PackPage($id: ID!) {
  pack(id: $id) {
    id
    name
    description
    version
    effects
    takesIdempotencyKey
    credentials
    services
    modelRoles
    costEstimate
    postConditions
    timeoutSeconds
    repeatable
    installedVersions
    source {
      kind
      location
    }
    inputSchema
    outputSchema
    metadata {
      accepts
      produces
      exampleIntents
      typicalUse
      limitations
      practice
      derived
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
    usage {
      runs
      failed
      medianDurationSeconds
      medianCostUsd
      lastRunAt
    }
    usedBy(first: 20) {
      nodes {
        id
        key
        name
      }
    }
  }
}
    ` as unknown as DocumentNode<PackPageQuery, PackPageQueryVariables>;