/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc, ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** What applying a document does. */
export type ApplyAction =
  /** Makes a pipeline. */
  | 'CREATE'
  /** Nothing: it is the same. */
  | 'KEEP'
  /** Makes a new version. */
  | 'UPDATE';

/** What to do about a failure. */
export type FailureClass =
  /** Change the input, credential or settings, then resume. */
  | 'CALLER_FIXABLE'
  /** Nothing went wrong; somebody stopped it. */
  | 'CANCELLED'
  /** Report it; resume once it is repaired. */
  | 'PACK_BUG'
  /** Something moved on meanwhile: look, then resume. */
  | 'STATE_CHANGED'
  /** Resume as it is, now or later. */
  | 'TRANSIENT';

/** Everything that can go wrong in a run. */
export type FailureCode =
  /** An artifact could not be stored, read or found. */
  | 'ARTIFACT_FAILED'
  /** It was cancelled. */
  | 'CANCELLED'
  /** A credential is missing, refused or not granted (401, 403). */
  | 'CREDENTIAL_INVALID'
  /** The pack raised something it should not have. */
  | 'HANDLER_FAILED'
  /** Packline itself is at fault. */
  | 'INTERNAL'
  /** The input is wrong; a model name that does not exist, too. */
  | 'INVALID_INPUT'
  /** The output breaks its schema or a post-condition. */
  | 'INVALID_OUTPUT'
  /** What was asked for does not exist (404). */
  | 'NOT_FOUND'
  /** It may or may not have happened, and must not be repeated. */
  | 'OUTCOME_UNKNOWN'
  /** A policy forbids it: command rules, network guard, isolation. */
  | 'POLICY_DENIED'
  /** A budget is used up. */
  | 'QUOTA_EXCEEDED'
  /** Too many requests (429). */
  | 'RATE_LIMITED'
  /** Memory, disk or a size limit. */
  | 'RESOURCE_EXHAUSTED'
  /** Something is no longer as the caller thought (409, 412). */
  | 'SCHEMA_MISMATCH'
  /** The session is gone and cannot be made again. */
  | 'SESSION_UNAVAILABLE'
  /** It took too long (408, 504), here or there. */
  | 'TIMEOUT'
  /** An outside service failed or refused the connection (5xx). */
  | 'UPSTREAM_UNAVAILABLE';

/** How far an agent's process is kept apart, weakest first. What it does with its own inner tools is not governed. */
export type IsolationLevel =
  /** Own process group, empty environment. */
  | 'PROCESS'
  /** Also own view of files and processes. */
  | 'SANDBOX'
  /** Also no network. */
  | 'SANDBOX_OFFLINE';

/** What a pack changes outside. */
export type PackEffects =
  /** Something, each time it runs: a mail, a post, a payment. */
  | 'EXTERNAL'
  /** Something, but repeating it changes no more. */
  | 'IDEMPOTENT'
  /** Nothing. */
  | 'NONE';

/** What can be done with a pipeline. */
export type PipelineAction =
  /** Copy it. */
  | 'CLONE'
  /** Delete it. */
  | 'DELETE'
  /** Start a run. */
  | 'RUN'
  /** Save a new version. */
  | 'UPDATE';

/** Which pipelines. */
export type PipelineFilter = {
  /** Takes one of these kinds. */
  accepts?: Array<string> | null | undefined;
  /** Starters only, or none of them. */
  builtin?: boolean | null | undefined;
  /** Owned by this caller. */
  owner?: string | null | undefined;
  /** Makes one of these kinds. */
  produces?: Array<string> | null | undefined;
  /** Words in key, name, description or metadata. */
  text?: string | null | undefined;
  /** Only those that can run here, or only those that cannot. */
  usable?: boolean | null | undefined;
};

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

/** What can be done with a run. */
export type RunAction =
  /** Mark its failure as dealt with. */
  | 'ACKNOWLEDGE'
  /** Stop it. */
  | 'CANCEL'
  /** Delete it and what it produced. */
  | 'DELETE'
  /** Propose a pipeline made from it. */
  | 'PROMOTE'
  /** Run again: a new run, from the first step. */
  | 'RERUN'
  /** Go on in the same run at the first step that has not succeeded. */
  | 'RESUME';

/** What started a run. */
export type RunCause =
  /** Another agent platform, over A2A. None is served yet. */
  | 'A2A'
  /** An agent, over MCP. */
  | 'AGENT'
  /** A person, in the page, on the command line or by a script. */
  | 'PERSON'
  /** The re-run of another run. */
  | 'RERUN'
  /** A schedule. Nothing starts runs by one yet. */
  | 'SCHEDULE'
  /** A webhook. Nothing starts runs by one yet. */
  | 'WEBHOOK';

/** Where a run stands. SUCCEEDED, FAILED and CANCELLED are final until a resume. */
export type RunState =
  /** Cancelled before the end. */
  | 'CANCELLED'
  /** Being cancelled; its steps have not let go yet. */
  | 'CANCELLING'
  /** A step failed for good. */
  | 'FAILED'
  /** Accepted, not started. */
  | 'QUEUED'
  /** A step is running or about to. */
  | 'RUNNING'
  /** Every step succeeded. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session; no worker is held. */
  | 'WAITING';

/** How bad an issue is. */
export type Severity =
  /** Refused. */
  | 'ERROR'
  /** Worth knowing. */
  | 'WARNING';

/** Where a step stands. */
export type StepState =
  /** Cancelled while it ran or waited. */
  | 'CANCELLED'
  /** Failed. */
  | 'FAILED'
  /** Not reached. */
  | 'PENDING'
  /** Running. */
  | 'RUNNING'
  /** Done; its output is kept through every resume. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session. */
  | 'WAITING';

/** What a run or step can wait for. */
export type WaitReason =
  /** The back-off before the next attempt. */
  | 'RETRY'
  /** A free worker, or the caller's limit of concurrent runs. */
  | 'SLOT';

export type PipelineHeadFragment = { id: string, key: string, name: string, description: string, builtin: boolean, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, steps: Array<
    | { candidates: Array<string>, key: string, position: number }
    | { packName: string, key: string, position: number }
  > };

export type PipelinesQueryVariables = Exact<{
  filter?: PipelineFilter | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PipelinesQuery = { pipelines: { nodes: Array<{ id: string, key: string, name: string, description: string, builtin: boolean, runs: { nodes: Array<{ id: string, state: RunState, workSeconds: number, createdAt: string }> }, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null }, steps: Array<
        | { candidates: Array<string>, key: string, position: number }
        | { packName: string, key: string, position: number }
      > }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } };

export type PipelineKindsQueryVariables = Exact<{ [key: string]: never; }>;


export type PipelineKindsQuery = { pipelines: { nodes: Array<{ id: string, metadata: { accepts: Array<string>, produces: Array<string> } }> } };

export type PipelineVersionsQueryVariables = Exact<{
  id: string;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
}>;


export type PipelineVersionsQuery = { pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string }, versions: { nodes: Array<{ id: string, number: number, note: string | null, createdAt: string, createdBy: { id: string, name: string } | null }>, pageInfo: { hasNextPage: boolean, hasPreviousPage: boolean, startCursor: string | null, endCursor: string | null } } } | null };

export type VersionTextQueryVariables = Exact<{
  id: string;
  number: number;
}>;


export type VersionTextQuery = { pipeline: { id: string, versionByNumber: { id: string, number: number, yaml: string } | null } | null };

export type RestoreVersionMutationVariables = Exact<{
  pipeline: string;
  yaml: string;
  ifVersion: number;
  note?: string | null | undefined;
}>;


export type RestoreVersionMutation = { updatePipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PipelineSuccess', newVersion: boolean, pipeline: { id: string, name: string, currentVersion: { id: string, number: number, yaml: string } } }
   };

export type DeletePipelineMutationVariables = Exact<{
  pipeline: string;
  confirmKey: string;
}>;


export type DeletePipelineMutation = { deletePipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'DeleteSuccess', deletedId: string }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };

export type ImportPipelinesMutationVariables = Exact<{
  yaml: string;
  dryRun: boolean;
}>;


export type ImportPipelinesMutation = { applyPipelines:
    | { __typename: 'ApplyPipelinesSuccess', changes: Array<{ key: string, action: ApplyAction, diff: string, warnings: Array<{ path: Array<string>, message: string, hint: string | null }> }> }
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   };

export type PipelinePageQueryVariables = Exact<{
  id: string;
}>;


export type PipelinePageQuery = { pipeline: { inputSchema: unknown, actions: Array<PipelineAction>, id: string, key: string, name: string, description: string, builtin: boolean, currentVersion: { id: string, number: number, yaml: string, createdAt: string }, steps: Array<
      | { candidates: Array<string>, outputs: Array<string>, stdoutTo: string | null, cache: boolean, requiredIsolation: IsolationLevel | null, key: string, position: number, timeoutSeconds: number, retry: { maxAttempts: number }, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
      | { packName: string, key: string, position: number, timeoutSeconds: number, pack: { id: string, description: string, effects: PackEffects } | null, retry: { maxAttempts: number }, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
    >, runs: { nodes: Array<{ id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null }> }, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null, limitations: Array<string>, practice: boolean }, availability: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, message: string, hint: string | null }> }, usage: { runs: number, failed: number, medianDurationSeconds: number | null, medianCostUsd: number | null, lastRunAt: string | null } } | null };

export type AgentChoicesQueryVariables = Exact<{ [key: string]: never; }>;


export type AgentChoicesQuery = { agentProfiles: Array<{ key: string, model: string | null, availability: { usable: boolean } }> };

export const PipelineHeadFragmentDoc = /*#__PURE__*/ gql`
    fragment PipelineHead on Pipeline {
  id
  key
  name
  description
  builtin
  metadata {
    accepts
    produces
    typicalUse
    limitations
    practice
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
  steps {
    key
    position
    ... on PackStep {
      packName
    }
    ... on AgentStep {
      candidates
    }
  }
}
    ` as unknown as DocumentNode<PipelineHeadFragment, unknown>;
export const PipelinesDocument = /*#__PURE__*/ gql`
    query Pipelines($filter: PipelineFilter, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  pipelines(
    filter: $filter
    first: $first
    after: $after
    last: $last
    before: $before
    orderBy: MOST_USED
  ) {
    nodes {
      ...PipelineHead
      runs(first: 12) {
        nodes {
          id
          state
          workSeconds
          createdAt
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
    ${PipelineHeadFragmentDoc}` as unknown as DocumentNode<PipelinesQuery, PipelinesQueryVariables>;
export const PipelineKindsDocument = /*#__PURE__*/ gql`
    query PipelineKinds {
  pipelines(first: 100, orderBy: MOST_USED) {
    nodes {
      id
      metadata {
        accepts
        produces
      }
    }
  }
}
    ` as unknown as DocumentNode<PipelineKindsQuery, PipelineKindsQueryVariables>;
export const PipelineVersionsDocument = /*#__PURE__*/ gql`
    query PipelineVersions($id: ID!, $first: Int, $after: Cursor, $last: Int, $before: Cursor) {
  pipeline(id: $id) {
    id
    key
    name
    builtin
    actions
    currentVersion {
      id
      number
      yaml
    }
    versions(first: $first, after: $after, last: $last, before: $before) {
      nodes {
        id
        number
        note
        createdAt
        createdBy {
          id
          name
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
}
    ` as unknown as DocumentNode<PipelineVersionsQuery, PipelineVersionsQueryVariables>;
export const VersionTextDocument = /*#__PURE__*/ gql`
    query VersionText($id: ID!, $number: Int!) {
  pipeline(id: $id) {
    id
    versionByNumber(number: $number) {
      id
      number
      yaml
    }
  }
}
    ` as unknown as DocumentNode<VersionTextQuery, VersionTextQueryVariables>;
export const RestoreVersionDocument = /*#__PURE__*/ gql`
    mutation RestoreVersion($pipeline: ID!, $yaml: String!, $ifVersion: Int!, $note: String) {
  updatePipeline(
    pipeline: $pipeline
    change: {yaml: $yaml}
    ifVersion: $ifVersion
    note: $note
  ) {
    __typename
    ...ProblemParts
    ... on PipelineSuccess {
      newVersion
      pipeline {
        id
        name
        currentVersion {
          id
          number
          yaml
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<RestoreVersionMutation, RestoreVersionMutationVariables>;
export const DeletePipelineDocument = /*#__PURE__*/ gql`
    mutation DeletePipeline($pipeline: ID!, $confirmKey: Key!) {
  deletePipeline(pipeline: $pipeline, confirmKey: $confirmKey) {
    __typename
    ...ProblemParts
    ... on DeleteSuccess {
      deletedId
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<DeletePipelineMutation, DeletePipelineMutationVariables>;
export const ImportPipelinesDocument = /*#__PURE__*/ gql`
    mutation ImportPipelines($yaml: String!, $dryRun: Boolean!) {
  applyPipelines(yaml: $yaml, dryRun: $dryRun) {
    __typename
    ...ProblemParts
    ... on ApplyPipelinesSuccess {
      changes {
        key
        action
        diff
        warnings {
          path
          message
          hint
        }
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<ImportPipelinesMutation, ImportPipelinesMutationVariables>;
export const PipelinePageDocument = /*#__PURE__*/ gql`
    query PipelinePage($id: ID!) {
  pipeline(id: $id) {
    ...PipelineHead
    inputSchema
    actions
    currentVersion {
      id
      number
      yaml
      createdAt
    }
    steps {
      key
      position
      timeoutSeconds
      retry {
        maxAttempts
      }
      references {
        path
        expression
        sourceStep
        sourcePath
      }
      ... on PackStep {
        packName
        pack {
          id
          description
          effects
        }
      }
      ... on AgentStep {
        candidates
        outputs
        stdoutTo
        cache
        requiredIsolation
      }
    }
    runs(first: 8) {
      nodes {
        ...RunRow
      }
    }
  }
}
    ${PipelineHeadFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<PipelinePageQuery, PipelinePageQueryVariables>;
export const AgentChoicesDocument = /*#__PURE__*/ gql`
    query AgentChoices {
  agentProfiles {
    key
    model
    availability {
      usable
    }
  }
}
    ` as unknown as DocumentNode<AgentChoicesQuery, AgentChoicesQueryVariables>;