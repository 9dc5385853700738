/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
/** A bearer token to be. */
export type CreateTokenInput = {
  /** When it stops working; never when absent. */
  expiresAt?: string | null | undefined;
  /** Name shown to people. */
  name: string;
  /** What it allows. */
  scopes: Array<Scope>;
  /** Subject of the caller it stands for, made when new; the one asking when absent. */
  subject?: string | null | undefined;
};

/** How an MCP server is reached. */
export type McpTransport =
  /** Streamable HTTP. */
  | 'HTTP'
  /** A child process. */
  | 'STDIO';

/** What a caller may do. */
export type Scope =
  /** Everything of everybody: credentials, callers, settings, audit. */
  | 'MANAGE'
  /** Read the runs, artifacts and transcripts of other callers; carries READ. */
  | 'OBSERVE'
  /** Read the catalog, pipelines, and one's own runs, artifacts and memory. */
  | 'READ'
  /** Start, resume, re-run and cancel runs; keep own defaults. */
  | 'RUN'
  /** Write pipelines and triggers. */
  | 'WRITE';

export type AgentClientsQueryVariables = Exact<{
  serverUrl: string;
  token?: string | null | undefined;
  author: boolean;
}>;


export type AgentClientsQuery = { agentClients: Array<{ key: string, name: string, check: string, setups: Array<{ transport: McpTransport, path: string, text: string, command: string | null }> }> };

export type MakeAgentTokenMutationVariables = Exact<{
  input: CreateTokenInput;
}>;


export type MakeAgentTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', plaintext: string, token: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string, hint: string | null }
    | { __typename: 'InvalidProblem', message: string, hint: string | null, issues: Array<{ path: Array<string>, message: string, hint: string | null }> }
   };

export type AgentTokenUseQueryVariables = Exact<{
  id: string;
}>;


export type AgentTokenUseQuery = { node:
    | { __typename: 'ApiToken', lastUsedAt: string | null, revokedAt: string | null, id: string }
    | { __typename: 'Artifact', id: string }
    | { __typename: 'Attempt', id: string }
    | { __typename: 'AuditEntry', id: string }
    | { __typename: 'Caller', id: string }
    | { __typename: 'Credential', id: string }
    | { __typename: 'GapProposal', id: string }
    | { __typename: 'MemoryEntry', id: string }
    | { __typename: 'Pack', id: string }
    | { __typename: 'Pipeline', id: string }
    | { __typename: 'PipelineVersion', id: string }
    | { __typename: 'Run', id: string }
    | { __typename: 'RunStep', id: string }
   | null };


export const AgentClientsDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AgentClients"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"serverUrl"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"token"}},"type":{"kind":"NamedType","name":{"kind":"Name","value":"String"}}},{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"author"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"Boolean"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"agentClients"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"serverUrl"},"value":{"kind":"Variable","name":{"kind":"Name","value":"serverUrl"}}},{"kind":"Argument","name":{"kind":"Name","value":"token"},"value":{"kind":"Variable","name":{"kind":"Name","value":"token"}}},{"kind":"Argument","name":{"kind":"Name","value":"author"},"value":{"kind":"Variable","name":{"kind":"Name","value":"author"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"key"}},{"kind":"Field","name":{"kind":"Name","value":"name"}},{"kind":"Field","name":{"kind":"Name","value":"check"}},{"kind":"Field","name":{"kind":"Name","value":"setups"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"transport"}},{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"text"}},{"kind":"Field","name":{"kind":"Name","value":"command"}}]}}]}}]}}]} as unknown as DocumentNode<AgentClientsQuery, AgentClientsQueryVariables>;
export const MakeAgentTokenDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"mutation","name":{"kind":"Name","value":"MakeAgentToken"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"input"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"CreateTokenInput"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"createToken"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"input"},"value":{"kind":"Variable","name":{"kind":"Name","value":"input"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"CreateTokenSuccess"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"plaintext"}},{"kind":"Field","name":{"kind":"Name","value":"token"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"Field","name":{"kind":"Name","value":"name"}}]}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"Problem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"InvalidProblem"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"issues"},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"path"}},{"kind":"Field","name":{"kind":"Name","value":"message"}},{"kind":"Field","name":{"kind":"Name","value":"hint"}}]}}]}}]}}]}}]} as unknown as DocumentNode<MakeAgentTokenMutation, MakeAgentTokenMutationVariables>;
export const AgentTokenUseDocument = {"kind":"Document","definitions":[{"kind":"OperationDefinition","operation":"query","name":{"kind":"Name","value":"AgentTokenUse"},"variableDefinitions":[{"kind":"VariableDefinition","variable":{"kind":"Variable","name":{"kind":"Name","value":"id"}},"type":{"kind":"NonNullType","type":{"kind":"NamedType","name":{"kind":"Name","value":"ID"}}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"node"},"arguments":[{"kind":"Argument","name":{"kind":"Name","value":"id"},"value":{"kind":"Variable","name":{"kind":"Name","value":"id"}}}],"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"__typename"}},{"kind":"Field","name":{"kind":"Name","value":"id"}},{"kind":"InlineFragment","typeCondition":{"kind":"NamedType","name":{"kind":"Name","value":"ApiToken"}},"selectionSet":{"kind":"SelectionSet","selections":[{"kind":"Field","name":{"kind":"Name","value":"lastUsedAt"}},{"kind":"Field","name":{"kind":"Name","value":"revokedAt"}}]}}]}}]}}]} as unknown as DocumentNode<AgentTokenUseQuery, AgentTokenUseQueryVariables>;