/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
/** Transport of an MCP server. */
export type McpTransport =
  /** Streamable HTTP. */
  | 'HTTP'
  /** Standard input and output of a child process. */
  | 'STDIO';

/** What a token allows its caller to do. */
export type Scope =
  /** Full access for administrators: credentials, callers, settings, audit. Includes all other scopes. */
  | 'MANAGE'
  /** Read the runs, artifacts and transcripts of all callers. Includes READ. */
  | 'OBSERVE'
  /** Read the catalog, pipelines, and the caller's own runs, artifacts and memory. */
  | 'READ'
  /** Start, resume, re-run and cancel runs; change the caller's own defaults. */
  | 'RUN'
  /** Create, change, copy and delete pipelines; save gap proposals; delete runs. */
  | 'WRITE';

export type AgentClientsQueryVariables = Exact<{
  serverUrl: string;
  token?: string | null | undefined;
  author: boolean;
}>;


export type AgentClientsQuery = { viewer: { id: string, scopes: Array<Scope> }, agentClients: Array<{ key: string, name: string, check: string, setups: Array<{ transport: McpTransport, path: string, text: string, command: string | null }> }> };

export type MakeAgentTokenMutationVariables = Exact<{
  name: string;
  scopes: Array<Scope> | Scope;
  subject?: string | null | undefined;
}>;


export type MakeAgentTokenMutation = { createToken:
    | { __typename: 'CreateTokenSuccess', plaintext: string, token: { id: string, name: string } }
    | { __typename: 'ForbiddenProblem', message: string, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, hintParts: { text: string | null, closest: string | null } | null, issues: Array<{ path: Array<string>, message: string, hint: string | null }> }
   | null };

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
    | { __typename: 'Trigger', id: string }
   | null };


export const AgentClientsDocument = /*#__PURE__*/ gql`
    query AgentClients($serverUrl: String!, $token: String, $author: Boolean!) {
  viewer {
    id
    scopes
  }
  agentClients(serverUrl: $serverUrl, token: $token, author: $author) {
    key
    name
    check
    setups {
      transport
      path
      text
      command
    }
  }
}
    ` as unknown as DocumentNode<AgentClientsQuery, AgentClientsQueryVariables>;
export const MakeAgentTokenDocument = /*#__PURE__*/ gql`
    mutation MakeAgentToken($name: String!, $scopes: [Scope!]!, $subject: String) {
  createToken(name: $name, scopes: $scopes, subject: $subject) {
    __typename
    ... on CreateTokenSuccess {
      plaintext
      token {
        id
        name
      }
    }
    ... on Problem {
      message
      hintParts {
        text
        closest
      }
    }
    ... on InvalidProblem {
      issues {
        path
        message
        hint
      }
    }
  }
}
    ` as unknown as DocumentNode<MakeAgentTokenMutation, MakeAgentTokenMutationVariables>;
export const AgentTokenUseDocument = /*#__PURE__*/ gql`
    query AgentTokenUse($id: ID!) {
  node(id: $id) {
    __typename
    id
    ... on ApiToken {
      lastUsedAt
      revokedAt
    }
  }
}
    ` as unknown as DocumentNode<AgentTokenUseQuery, AgentTokenUseQueryVariables>;