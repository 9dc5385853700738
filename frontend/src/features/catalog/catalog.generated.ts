/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** Which catalog entries. Fields are joined by and. */
export type CatalogFilter = {
  /** Takes one of these. */
  accepts?: Array<string> | null | undefined;
  /** Packs or pipelines only. */
  kind?: CatalogKind | null | undefined;
  /** Makes one of these. */
  produces?: Array<string> | null | undefined;
  /** Packs from this sort of place. */
  source?: PackSourceKind | null | undefined;
  /** Words in name, description or metadata; best match first. */
  text?: string | null | undefined;
  /** Only those that can run here, or only those that cannot. */
  usable?: boolean | null | undefined;
};

/** What the catalog holds. */
export type CatalogKind =
  /** Packs. */
  | 'PACK'
  /** Pipelines. */
  | 'PIPELINE';

/** What a pack changes outside. */
export type PackEffects =
  /** Something, each time it runs: a mail, a post, a payment. */
  | 'EXTERNAL'
  /** Something, but repeating it changes no more. */
  | 'IDEMPOTENT'
  /** Nothing. */
  | 'NONE';

/** Places packs are loaded from. */
export type PackSourceKind =
  /** What ships with Packline. */
  | 'BUILTIN_FOLDER'
  /** An installed distribution, entry-point group `packline.packs`. */
  | 'ENTRY_POINT'
  /** A mounted MCP server. */
  | 'MCP_SERVER'
  /** A folder named in the settings. */
  | 'USER_FOLDER';

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

export type CatalogQueryVariables = Exact<{
  filter?: CatalogFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type CatalogQuery = { catalog: { nodes: Array<
      | { __typename: 'Pack', version: string, effects: PackEffects, id: string, name: string, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null }, availability: { usable: boolean, missing: Array<{ message: string }> } }
      | { __typename: 'Pipeline', key: string, id: string, name: string, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null }, availability: { usable: boolean, missing: Array<{ message: string }> } }
    >, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type CatalogKindsQueryVariables = Exact<{ [key: string]: never; }>;


export type CatalogKindsQuery = { routingGuide: { kinds: Array<{ name: string }> } };

export type PackPageQueryVariables = Exact<{
  id: string;
}>;


export type PackPageQuery = { pack: { id: string, name: string, description: string, version: string, effects: PackEffects, takesIdempotencyKey: boolean, credentials: Array<string>, services: Array<string>, modelRoles: Array<string>, costEstimate: string | null, postConditions: Array<string>, timeoutSeconds: number, repeatable: boolean, installedVersions: Array<string>, inputSchema: unknown, outputSchema: unknown, source: { kind: PackSourceKind, location: string }, metadata: { accepts: Array<string>, produces: Array<string>, exampleIntents: Array<string>, typicalUse: string | null, limitations: Array<string>, derived: Array<string> }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, usedBy: { nodes: Array<{ id: string, key: string, name: string }> } } | null };


export const CatalogDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Catalog"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"filter"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"CatalogFilter"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"first"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"after"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"last"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Int"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"before"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"Cursor"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"catalog"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"filter"},"value":{"kind":"Variable","name":{"kind":"Name","value":"filter"}}},{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"Variable","name":{"kind":"Name","value":"first"}}},{"kind":"Argument","name":{"kind":"Name","value":"after"},"value":{"kind":"Variable","name":{"kind":"Name","value":"after"}}},{"kind":"Argument","name":{"kind":"Name","value":"last"},"value":{"kind":"Variable","name":{"kind":"Name","value":"last"}}},{"kind":"Argument","name":{"kind":"Name","value":"before"},"value":{"kind":"Variable","name":{"kind":"Name","value":"before"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accepts"}},{"kind":"Field","name":{"kind":"Name","value":"produces"}},{"kind":"Field","name":{"kind":"Name","value":"typicalUse"}}]}},{"kind":"Field","name":{"kind":"Name","value":"availability"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usable"}},{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Pack"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"effects"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Pipeline"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"key"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"pageInfo"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"hasNextPage"}},{"kind":"Field","name":{"kind":"Name","value":"hasPreviousPage"}},{"kind":"Field","name":{"kind":"Name","value":"startCursor"}},{"kind":"Field","name":{"kind":"Name","value":"endCursor"}}]}}]}}]}}]} as unknown as DocumentNode<CatalogQuery, CatalogQueryVariables>;
export const CatalogKindsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"CatalogKinds"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"routingGuide"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"1"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kinds"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]} as unknown as DocumentNode<CatalogKindsQuery, CatalogKindsQueryVariables>;
export const PackPageDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"PackPage"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"pack"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"effects"}},{"kind":"Field","name":{"kind":"Name","value":"takesIdempotencyKey"}},{"kind":"Field","name":{"kind":"Name","value":"credentials"}},{"kind":"Field","name":{"kind":"Name","value":"services"}},{"kind":"Field","name":{"kind":"Name","value":"modelRoles"}},{"kind":"Field","name":{"kind":"Name","value":"costEstimate"}},{"kind":"Field","name":{"kind":"Name","value":"postConditions"}},{"kind":"Field","name":{"kind":"Name","value":"timeoutSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"repeatable"}},{"kind":"Field","name":{"kind":"Name","value":"installedVersions"}},{"kind":"Field","name":{"kind":"Name","value":"source"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"location"}}]}},{"kind":"Field","name":{"kind":"Name","value":"inputSchema"}},{"kind":"Field","name":{"kind":"Name","value":"outputSchema"}},{"kind":"Field","name":{"kind":"Name","value":"metadata"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"accepts"}},{"kind":"Field","name":{"kind":"Name","value":"produces"}},{"kind":"Field","name":{"kind":"Name","value":"exampleIntents"}},{"kind":"Field","name":{"kind":"Name","value":"typicalUse"}},{"kind":"Field","name":{"kind":"Name","value":"limitations"}},{"kind":"Field","name":{"kind":"Name","value":"derived"}}]}},{"kind":"Field","name":{"kind":"Name","value":"availability"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usable"}},{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"usage"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"runs"}},{"kind":"Field","name":{"kind":"Name","value":"failed"}},{"kind":"Field","name":{"kind":"Name","value":"medianDurationSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"medianCostUsd"}},{"kind":"Field","name":{"kind":"Name","value":"lastRunAt"}}]}},{"kind":"Field","name":{"kind":"Name","value":"usedBy"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"first"},"value":{"kind":"IntValue","value":"20"}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"nodes"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}}]}}]}}]} as unknown as DocumentNode<PackPageQuery, PackPageQueryVariables>;