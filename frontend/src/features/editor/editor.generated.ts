/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ArtifactRowFragmentDoc, FailurePartsFragmentDoc, ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** How far the content of an artifact can be trusted. */
export type ArtifactStatus =
  /** Made by an agent and not verified. */
  | 'PROPOSED'
  /** Contains a known secret. It cannot be downloaded. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions passed. */
  | 'STORED'
  /** Made by an agent, and then read by a later deterministic step that succeeded. */
  | 'VERIFIED';

/** What to do about a failure. */
export type FailureClass =
  /** Change the input, credential or settings, then resume. */
  | 'CALLER_FIXABLE'
  /** Nothing failed; the run was cancelled. */
  | 'CANCELLED'
  /** A bug: report it, and resume once it is fixed. */
  | 'PACK_BUG'
  /** The source has changed: review it, then resume. */
  | 'STATE_CHANGED'
  /** Resume without changes, now or later. */
  | 'TRANSIENT';

/** Why a run, step or attempt failed. */
export type FailureCode =
  /** An artifact could not be stored, read or found. */
  | 'ARTIFACT_FAILED'
  /** The run was cancelled. */
  | 'CANCELLED'
  /** A credential is missing, not granted or was rejected (401, 403). */
  | 'CREDENTIAL_INVALID'
  /** The pack raised an unexpected error. */
  | 'HANDLER_FAILED'
  /** Packline had an internal error. */
  | 'INTERNAL'
  /** The input is invalid, or names a model that does not exist. */
  | 'INVALID_INPUT'
  /** The output does not match its schema, or a post-condition failed. */
  | 'INVALID_OUTPUT'
  /** The requested resource does not exist (404). */
  | 'NOT_FOUND'
  /** It is unknown whether the step took effect, and the step must not be repeated. */
  | 'OUTCOME_UNKNOWN'
  /** A policy denied it: command rules, network guard or isolation. */
  | 'POLICY_DENIED'
  /** A budget or quota is used up. */
  | 'QUOTA_EXCEEDED'
  /** Too many requests (429). */
  | 'RATE_LIMITED'
  /** Memory, disk space or a size limit was exhausted. */
  | 'RESOURCE_EXHAUSTED'
  /** A resource was changed in the meantime (409, 412). */
  | 'SCHEMA_MISMATCH'
  /** The session has ended and cannot be recreated. */
  | 'SESSION_UNAVAILABLE'
  /** The step or an external service timed out (408, 504). */
  | 'TIMEOUT'
  /** An external service failed or refused the connection (5xx). */
  | 'UPSTREAM_UNAVAILABLE';

/** The first thing to do about a failure. */
export type FailureRemedy =
  /** Ask the operator of the server to change its settings, then resume. */
  | 'ASK_OPERATOR'
  /** Change the input of the step, then resume. */
  | 'CHANGE_INPUT'
  /** Check what changed outside of the run, then decide whether to resume. */
  | 'CHECK_CHANGES'
  /** Raise the quota at the provider, or use another account. Then resume. */
  | 'RAISE_QUOTA'
  /** Report the defect, and resume once it is fixed. */
  | 'REPORT'
  /** Resume without changes, now or later. */
  | 'RESUME'
  /** Set or replace the credential, then resume. */
  | 'SET_CREDENTIAL';

/** How a pack changes external systems. */
export type PackEffects =
  /** Changes an external system on every call, such as sending mail or making a payment. */
  | 'EXTERNAL'
  /** Changes an external system, but repeating the call changes nothing more. */
  | 'IDEMPOTENT'
  /** Changes nothing outside Packline. */
  | 'NONE';

/** What a caller can do with a pipeline. */
export type PipelineAction =
  /** Copy it. */
  | 'CLONE'
  /** Delete it. */
  | 'DELETE'
  /** Start a run. */
  | 'RUN'
  /** Save a new version. */
  | 'UPDATE';

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

/** The state of a run. SUCCEEDED, FAILED and CANCELLED are final unless the run is resumed. */
export type RunState =
  /** Cancelled before it finished. */
  | 'CANCELLED'
  /** Being cancelled; its steps have not all stopped yet. */
  | 'CANCELLING'
  /** A step failed and is not retried automatically. */
  | 'FAILED'
  /** Accepted, but not started. */
  | 'QUEUED'
  /** A step is running or about to start. */
  | 'RUNNING'
  /** All steps succeeded. */
  | 'SUCCEEDED'
  /** Waiting for a retry, a session or its start time, without occupying a worker. */
  | 'WAITING';

/** Severity of an issue. */
export type Severity =
  /** Blocks the command. */
  | 'ERROR'
  /** Does not block the command. */
  | 'WARNING';

/** The state of a step. */
export type StepState =
  /** Cancelled while running or waiting. */
  | 'CANCELLED'
  /** Failed, and not retried automatically. */
  | 'FAILED'
  /** Not reached yet. */
  | 'PENDING'
  /** An attempt is running. */
  | 'RUNNING'
  /** Succeeded. Its output is kept through all resumes. */
  | 'SUCCEEDED'
  /** Waiting for a retry or a session. */
  | 'WAITING';

export type IssuePartsFragment = { path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null, line: number | null };

export type EditedVersionFragment = { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null };

export type EditedPipelineFragment = { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } };

export type EditorPipelineQueryVariables = Exact<{
  id: string;
}>;


export type EditorPipelineQuery = { pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } } | null };

export type EditorLastRunQueryVariables = Exact<{
  id: string;
  limitBytes: number;
}>;


export type EditorLastRunQuery = { pipeline: { id: string, runs: { nodes: Array<{ id: string, title: string, createdAt: string, inputs: unknown, steps: Array<{ id: string, key: string, output: { json: unknown } | null }> }> } } | null };

export type EditorPacksQueryVariables = Exact<{
  names: Array<string> | string;
}>;


export type EditorPacksQuery = { nodes: Array<
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { name: string, version: string, installedVersions: Array<string>, description: string, effects: PackEffects, timeoutSeconds: number, inputSchema: unknown, outputSchema: unknown, id: string, metadata: { typicalUse: string | null } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null> };

export type EditorCatalogQueryVariables = Exact<{
  text?: string | null | undefined;
}>;


export type EditorCatalogQuery = { catalog: { nodes: Array<
      | { name: string, version: string, description: string, effects: PackEffects, id: string, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null }, availability: { usable: boolean, missing: Array<{ message: string }> } }
      | { id: string }
    > } };

export type EditorPackNamesQueryVariables = Exact<{
  after?: string | null | undefined;
}>;


export type EditorPackNamesQuery = { catalog: { nodes: Array<
      | { name: string, version: string, description: string, id: string }
      | { id: string }
    >, pageInfo: { hasNextPage: boolean, endCursor: string | null } } };

export type EditorCheckQueryVariables = Exact<{
  yaml: string;
}>;


export type EditorCheckQuery = { checkPipeline: { valid: boolean, inputSchema: unknown, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null, line: number | null }>, preflight: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }> } } };

export type EditorProposalQueryVariables = Exact<{
  run: string;
}>;


export type EditorProposalQuery = { promoteRun:
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PromoteRunSuccess', yaml: string, madeFrom: Array<{ id: string, title: string }> }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   };

export type EditorCreateMutationVariables = Exact<{
  yaml: string;
  note?: string | null | undefined;
}>;


export type EditorCreateMutation = { createPipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PipelineSuccess', pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } } }
   | null };

export type EditorUpdateMutationVariables = Exact<{
  pipeline: string;
  yaml: string;
  ifVersion: number;
  note?: string | null | undefined;
}>;


export type EditorUpdateMutation = { updatePipeline:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, current:
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } }
        | { id: string }
        | { id: string }
        | { id: string }
        | { id: string }
       | null, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PipelineSuccess', newVersion: boolean, pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } } }
   | null };

export type EditorTestStepMutationVariables = Exact<{
  pack: string;
  input: unknown;
  version?: string | null | undefined;
}>;


export type EditorTestStepMutation = { runPack:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type EditorTestRunQueryVariables = Exact<{
  id: string;
}>;


export type EditorTestRunQuery = { run: { id: string, state: RunState, workSeconds: number, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, output: { json: unknown, text: string | null, sizeBytes: number } | null, steps: Array<{ id: string, state: StepState, progress: number | null, warnings: Array<string>, artifacts: Array<{ downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }> }> } | null };

export const IssuePartsFragmentDoc = /*#__PURE__*/ gql`
    fragment IssueParts on Issue {
  path
  rule
  severity
  message
  hint
  line
}
    ` as unknown as DocumentNode<IssuePartsFragment, unknown>;
export const EditedVersionFragmentDoc = /*#__PURE__*/ gql`
    fragment EditedVersion on PipelineVersion {
  id
  number
  yaml
  createdAt
  createdBy {
    id
    name
  }
}
    ` as unknown as DocumentNode<EditedVersionFragment, unknown>;
export const EditedPipelineFragmentDoc = /*#__PURE__*/ gql`
    fragment EditedPipeline on Pipeline {
  id
  key
  name
  builtin
  actions
  currentVersion {
    ...EditedVersion
  }
}
    ` as unknown as DocumentNode<EditedPipelineFragment, unknown>;
export const EditorPipelineDocument = /*#__PURE__*/ gql`
    query EditorPipeline($id: ID!) {
  pipeline(id: $id) {
    ...EditedPipeline
  }
}
    ${EditedPipelineFragmentDoc}
${EditedVersionFragmentDoc}` as unknown as DocumentNode<EditorPipelineQuery, EditorPipelineQueryVariables>;
export const EditorLastRunDocument = /*#__PURE__*/ gql`
    query EditorLastRun($id: ID!, $limitBytes: Int!) {
  pipeline(id: $id) {
    id
    runs(first: 1, filter: {states: [SUCCEEDED, FAILED, CANCELLED]}) {
      nodes {
        id
        title
        createdAt
        inputs
        steps {
          id
          key
          output(limitBytes: $limitBytes) {
            json
          }
        }
      }
    }
  }
}
    ` as unknown as DocumentNode<EditorLastRunQuery, EditorLastRunQueryVariables>;
export const EditorPacksDocument = /*#__PURE__*/ gql`
    query EditorPacks($names: [ID!]!) {
  nodes(ids: $names) {
    id
    ... on Pack {
      name
      version
      installedVersions
      description
      effects
      timeoutSeconds
      inputSchema
      outputSchema
      metadata {
        typicalUse
      }
    }
  }
}
    ` as unknown as DocumentNode<EditorPacksQuery, EditorPacksQueryVariables>;
export const EditorCatalogDocument = /*#__PURE__*/ gql`
    query EditorCatalog($text: String) {
  catalog(filter: {kind: PACK, text: $text}, first: 40) {
    nodes {
      id
      ... on Pack {
        name
        version
        description
        effects
        metadata {
          accepts
          produces
          typicalUse
        }
        availability {
          usable
          missing {
            message
          }
        }
      }
    }
  }
}
    ` as unknown as DocumentNode<EditorCatalogQuery, EditorCatalogQueryVariables>;
export const EditorPackNamesDocument = /*#__PURE__*/ gql`
    query EditorPackNames($after: Cursor) {
  catalog(filter: {kind: PACK}, first: 100, after: $after) {
    nodes {
      id
      ... on Pack {
        name
        version
        description
      }
    }
    pageInfo {
      hasNextPage
      endCursor
    }
  }
}
    ` as unknown as DocumentNode<EditorPackNamesQuery, EditorPackNamesQueryVariables>;
export const EditorCheckDocument = /*#__PURE__*/ gql`
    query EditorCheck($yaml: String!) {
  checkPipeline(definition: {yaml: $yaml}) {
    valid
    inputSchema
    issues {
      ...IssueParts
    }
    preflight {
      usable
      missing {
        kind
        name
        steps
        message
        hint
      }
    }
  }
}
    ${IssuePartsFragmentDoc}` as unknown as DocumentNode<EditorCheckQuery, EditorCheckQueryVariables>;
export const EditorProposalDocument = /*#__PURE__*/ gql`
    query EditorProposal($run: ID!) {
  promoteRun(id: $run) {
    __typename
    ...ProblemParts
    ... on PromoteRunSuccess {
      yaml
      madeFrom {
        id
        title
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<EditorProposalQuery, EditorProposalQueryVariables>;
export const EditorCreateDocument = /*#__PURE__*/ gql`
    mutation EditorCreate($yaml: String!, $note: String) {
  createPipeline(definition: {yaml: $yaml}, note: $note) {
    __typename
    ...ProblemParts
    ... on PipelineSuccess {
      pipeline {
        ...EditedPipeline
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${EditedPipelineFragmentDoc}
${EditedVersionFragmentDoc}` as unknown as DocumentNode<EditorCreateMutation, EditorCreateMutationVariables>;
export const EditorUpdateDocument = /*#__PURE__*/ gql`
    mutation EditorUpdate($pipeline: ID!, $yaml: String!, $ifVersion: Int!, $note: String) {
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
        ...EditedPipeline
      }
    }
    ... on ConflictProblem {
      current {
        id
        ...EditedPipeline
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${EditedPipelineFragmentDoc}
${EditedVersionFragmentDoc}` as unknown as DocumentNode<EditorUpdateMutation, EditorUpdateMutationVariables>;
export const EditorTestStepDocument = /*#__PURE__*/ gql`
    mutation EditorTestStep($pack: ID!, $input: JSON!, $version: String) {
  runPack(pack: $pack, input: $input, version: $version, waitSeconds: 1) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<EditorTestStepMutation, EditorTestStepMutationVariables>;
export const EditorTestRunDocument = /*#__PURE__*/ gql`
    query EditorTestRun($id: ID!) {
  run(id: $id) {
    id
    state
    workSeconds
    failure {
      ...FailureParts
    }
    output {
      json
      text
      sizeBytes
    }
    steps {
      id
      state
      progress
      warnings
      artifacts {
        ...ArtifactRow
        downloadUrl
        previewUrl
      }
    }
  }
}
    ${FailurePartsFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<EditorTestRunQuery, EditorTestRunQueryVariables>;