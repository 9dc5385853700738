/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** What a model makes. */
export type ModelKind =
  /** Images. */
  | 'IMAGE'
  /** Text. */
  | 'TEXT'
  /** Speech. */
  | 'VOICE';

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

export type HealthQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthQuery = { server: { version: string, accepting: boolean, queuedRuns: number, runningRuns: number, health: Array<{ name: string, ok: boolean, message: string }>, packSources: Array<{ kind: PackSourceKind, location: string, packCount: number, loadErrors: Array<{ origin: string, message: string }> }> } };

export type ModelsAndLimitsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelsAndLimitsQuery = { modelRoles: Array<{ role: string, chain: Array<{ key: string, kind: ModelKind, name: string, provider: string, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } }> }>, server: { runLimits: { deadlineSeconds: number, stepTimeoutSeconds: number, waitSeconds: number, steps: number, concurrentRuns: number, queuedRuns: number, stepInputBytes: number, stepOutputBytes: number, uploadBytes: number, sessionIdleSeconds: number, runDays: number, runCount: number, artifactDays: number } } };

export type ModelPartsFragment = { key: string, kind: ModelKind, name: string, provider: string, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } };

export type SettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type SettingsQuery = { settings: Array<{ name: string, description: string, value: unknown, defaultValue: unknown, source: string }> };

export const ModelPartsFragmentDoc = {"kind":"Document","definitions":[{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ModelParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"availability"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usable"}},{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}}]}}]} as unknown as DocumentNode<ModelPartsFragment, unknown>;
export const HealthDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Health"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"server"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"version"}},{"kind":"Field","name":{"kind":"Name","value":"accepting"}},{"kind":"Field","name":{"kind":"Name","value":"queuedRuns"}},{"kind":"Field","name":{"kind":"Name","value":"runningRuns"}},{"kind":"Field","name":{"kind":"Name","value":"health"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"ok"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}},{"kind":"Field","name":{"kind":"Name","value":"packSources"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"location"}},{"kind":"Field","name":{"kind":"Name","value":"packCount"}},{"kind":"Field","name":{"kind":"Name","value":"loadErrors"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"origin"}},{"kind":"Field","name":{"kind":"Name","value":"message"}}]}}]}}]}}]}}]} as unknown as DocumentNode<HealthQuery, HealthQueryVariables>;
export const ModelsAndLimitsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"ModelsAndLimits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"modelRoles"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"role"}},{"kind":"Field","name":{"kind":"Name","value":"chain"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"FragmentSpread","name":{"kind":"Name","value":"ModelParts"}}]}}]}},{"kind":"Field","name":{"kind":"Name","value":"server"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"runLimits"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"deadlineSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"stepTimeoutSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"waitSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"steps"}},{"kind":"Field","name":{"kind":"Name","value":"concurrentRuns"}},{"kind":"Field","name":{"kind":"Name","value":"queuedRuns"}},{"kind":"Field","name":{"kind":"Name","value":"stepInputBytes"}},{"kind":"Field","name":{"kind":"Name","value":"stepOutputBytes"}},{"kind":"Field","name":{"kind":"Name","value":"uploadBytes"}},{"kind":"Field","name":{"kind":"Name","value":"sessionIdleSeconds"}},{"kind":"Field","name":{"kind":"Name","value":"runDays"}},{"kind":"Field","name":{"kind":"Name","value":"runCount"}},{"kind":"Field","name":{"kind":"Name","value":"artifactDays"}}]}}]}}]}},{"kind":"FragmentDefinition","name":{"kind":"Name","value":"ModelParts"},"typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Model"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"provider"}},{"kind":"Field","name":{"kind":"Name","value":"availability"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"usable"}},{"kind":"Field","name":{"kind":"Name","value":"missing"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"kind"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}}]}}]} as unknown as DocumentNode<ModelsAndLimitsQuery, ModelsAndLimitsQueryVariables>;
export const SettingsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"Settings"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"settings"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"description"}},{"kind":"Field","name":{"kind":"Name","value":"value"}},{"kind":"Field","name":{"kind":"Name","value":"defaultValue"}},{"kind":"Field","name":{"kind":"Name","value":"source"}}]}}]}}]} as unknown as DocumentNode<SettingsQuery, SettingsQueryVariables>;