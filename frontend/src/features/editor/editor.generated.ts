/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from '@urql/core';
import { ArtifactRowFragmentDoc, FailurePartsFragmentDoc, ProblemPartsFragmentDoc } from '../../domain/fragments.generated.ts';
/** What an artifact is worth. */
export type ArtifactStatus =
  /** Made by an agent; nothing has vouched for it. */
  | 'PROPOSED'
  /** Holds a known secret; not handed out. */
  | 'QUARANTINED'
  /** Uploaded, or made by a pack whose post-conditions held. */
  | 'STORED'
  /** Made by an agent; a later deterministic step read it and succeeded. */
  | 'VERIFIED';

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

export type IssuePartsFragment = { path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null };

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
   | null> };

export type EditorCatalogQueryVariables = Exact<{
  text?: string | null | undefined;
}>;


export type EditorCatalogQuery = { catalog: { nodes: Array<
      | { name: string, version: string, description: string, effects: PackEffects, id: string, metadata: { accepts: Array<string>, produces: Array<string>, typicalUse: string | null }, availability: { usable: boolean, missing: Array<{ message: string }> } }
      | { id: string }
    > } };

export type EditorCheckQueryVariables = Exact<{
  yaml: string;
}>;


export type EditorCheckQuery = { checkPipeline: { valid: boolean, inputSchema: unknown, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, preflight: { usable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }> } } };

export type EditorProposalMutationVariables = Exact<{
  run: string;
}>;


export type EditorProposalMutation = { promoteRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
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
   };

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
       | null, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'PipelineSuccess', newVersion: boolean, pipeline: { id: string, key: string, name: string, builtin: boolean, actions: Array<PipelineAction>, currentVersion: { id: string, number: number, yaml: string, createdAt: string, createdBy: { id: string, name: string } | null } } }
   };

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
   };

export type EditorTestRunQueryVariables = Exact<{
  id: string;
}>;


export type EditorTestRunQuery = { run: { id: string, state: RunState, workSeconds: number, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string | null, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, output: { json: unknown, excerpt: string | null, truncated: boolean, sizeBytes: number } | null, steps: Array<{ id: string, state: StepState, progress: number | null, warnings: Array<string>, artifacts: Array<{ downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }> }> } | null };

export const IssuePartsFragmentDoc = /*#__PURE__*/ gql`
    fragment IssueParts on Issue {
  path
  rule
  severity
  message
  hint
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
    mutation EditorProposal($run: ID!) {
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
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<EditorProposalMutation, EditorProposalMutationVariables>;
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
      excerpt
      truncated
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