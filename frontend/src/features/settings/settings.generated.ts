/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** How strictly an agent's process is isolated, weakest first. The agent's built-in tools are not restricted beyond that. */
export type IsolationLevel =
  /** A separate process group and an empty environment. */
  | 'PROCESS'
  /** PROCESS, plus a restricted view of files and other processes. */
  | 'SANDBOX'
  /** SANDBOX, without network access. */
  | 'SANDBOX_OFFLINE';

/** What a model generates. */
export type ModelKind =
  /** Images. */
  | 'IMAGE'
  /** Text. */
  | 'TEXT'
  /** Speech. */
  | 'VOICE';

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

export type HealthQueryVariables = Exact<{ [key: string]: never; }>;


export type HealthQuery = { server: { version: string, accepting: boolean, queuedRuns: number, runningRuns: number, health: Array<{ name: string, ok: boolean, message: string }>, packSources: Array<{ kind: PackSourceKind, location: string, packCount: number, loadErrors: Array<{ origin: string, message: string }> }> } };

export type ModelsAndLimitsQueryVariables = Exact<{ [key: string]: never; }>;


export type ModelsAndLimitsQuery = { budgets: Array<{ setting: string, ofCaller: boolean, nearlySpent: boolean, message: string }>, modelRoles: Array<{ role: string, chain: Array<{ key: string, kind: ModelKind, name: string, provider: string, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } }> }>, server: { runLimits: { deadlineSeconds: number, stepTimeoutSeconds: number, waitSeconds: number, steps: number, concurrentRuns: number, queuedRuns: number, stepInputBytes: number, stepOutputBytes: number, transcriptBytes: number, uploadBytes: number, sessionIdleSeconds: number, runDays: number, runCount: number, artifactDays: number } } };

export type AgentsQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentsQuery = { agentProfiles: Array<{ key: string, command: Array<string>, model: string | null, isolation: IsolationLevel | null, timeoutSeconds: number, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } }> };

export type ModelPartsFragment = { key: string, kind: ModelKind, name: string, provider: string, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> } };

export type WorkersQueryVariables = Exact<{ [key: string]: never; }>;


export type WorkersQuery = { workers: Array<{ name: string, machine: string, release: string, startedAt: string, lastSeenAt: string, alive: boolean, lanes: number, running: number, draining: boolean }>, server: { queuedRuns: number, oldestQueuedAt: string | null }, queue: Array<{ needs: Array<string>, runs: number, workers: Array<string>, missing: Array<string> }> };

export type DrainWorkerMutationVariables = Exact<{
  name: string;
  draining: boolean;
}>;


export type DrainWorkerMutation = { drainWorker:
    | { __typename: 'DrainWorkerSuccess', worker: { name: string, draining: boolean } }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type SettingsQueryVariables = Exact<{ [key: string]: never; }>;


export type SettingsQuery = { settings: Array<{ name: string, description: string, value: unknown, defaultValue: unknown, source: string }> };

export const ModelPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment ModelParts on Model {
  key
  kind
  name
  provider
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
    ` as unknown as DocumentNode<ModelPartsFragment, unknown>;
export const HealthDocument = /*#__PURE__*/ gql`
    query Health {
  server {
    version
    accepting
    queuedRuns
    runningRuns
    health {
      name
      ok
      message
    }
    packSources {
      kind
      location
      packCount
      loadErrors {
        origin
        message
      }
    }
  }
}
    ` as unknown as DocumentNode<HealthQuery, HealthQueryVariables>;
export const ModelsAndLimitsDocument = /*#__PURE__*/ gql`
    query ModelsAndLimits {
  budgets {
    setting
    ofCaller
    nearlySpent
    message
  }
  modelRoles {
    role
    chain {
      ...ModelParts
    }
  }
  server {
    runLimits {
      deadlineSeconds
      stepTimeoutSeconds
      waitSeconds
      steps
      concurrentRuns
      queuedRuns
      stepInputBytes
      stepOutputBytes
      transcriptBytes
      uploadBytes
      sessionIdleSeconds
      runDays
      runCount
      artifactDays
    }
  }
}
    ${ModelPartsFragmentDoc}` as unknown as DocumentNode<ModelsAndLimitsQuery, ModelsAndLimitsQueryVariables>;
export const AgentsDocument = /*#__PURE__*/ gql`
    query Agents {
  agentProfiles {
    key
    command
    model
    isolation
    timeoutSeconds
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
}
    ` as unknown as DocumentNode<AgentsQuery, AgentsQueryVariables>;
export const WorkersDocument = /*#__PURE__*/ gql`
    query Workers {
  workers {
    name
    machine
    release
    startedAt
    lastSeenAt
    alive
    lanes
    running
    draining
  }
  server {
    queuedRuns
    oldestQueuedAt
  }
  queue {
    needs
    runs
    workers
    missing
  }
}
    ` as unknown as DocumentNode<WorkersQuery, WorkersQueryVariables>;
export const DrainWorkerDocument = /*#__PURE__*/ gql`
    mutation DrainWorker($name: String!, $draining: Boolean!) {
  drainWorker(name: $name, draining: $draining) {
    __typename
    ... on DrainWorkerSuccess {
      worker {
        name
        draining
      }
    }
    ...ProblemParts
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DrainWorkerMutation, DrainWorkerMutationVariables>;
export const SettingsDocument = /*#__PURE__*/ gql`
    query Settings {
  settings {
    name
    description
    value
    defaultValue
    source
  }
}
    ` as unknown as DocumentNode<SettingsQuery, SettingsQueryVariables>;