/** Internal type. DO NOT USE DIRECTLY. */
type Exact<T extends { [key: string]: unknown }> = { [K in keyof T]: T[K] };
/** Internal type. DO NOT USE DIRECTLY. */
export type Incremental<T> = T | { [P in keyof T]?: P extends ' $fragmentName' | '__typename' ? T[P] : never };
import type { TypedDocumentNode as DocumentNode } from '@graphql-typed-document-node/core';
import { gql } from 'packline-gql';
import { ProblemPartsFragmentDoc, ArtifactRowFragmentDoc, CostPartsFragmentDoc, WaitPartsFragmentDoc, FailurePartsFragmentDoc, RunRowFragmentDoc } from '../../domain/fragments.generated.ts';
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

/** The state of an attempt. */
export type AttemptState =
  /** The attempt was cancelled. */
  | 'CANCELLED'
  /** The attempt failed. */
  | 'FAILED'
  /** The process ended without a result, for example in a crash. */
  | 'LOST'
  /** The attempt is running. */
  | 'RUNNING'
  /** The attempt succeeded. */
  | 'SUCCEEDED';

/** Which pipeline definition a run uses. */
export type DefinitionChoice =
  /** The pipeline's current version. To resume on it, the steps that succeeded must be unchanged in it. */
  | 'CURRENT'
  /** The version the run was started with. */
  | 'OF_RUN';

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

/** How strictly an agent's process is isolated, weakest first. The agent's built-in tools are not restricted beyond that. */
export type IsolationLevel =
  /** A separate process group and an empty environment. */
  | 'PROCESS'
  /** PROCESS, plus a restricted view of files and other processes. */
  | 'SANDBOX'
  /** SANDBOX, without network access. */
  | 'SANDBOX_OFFLINE';

/** Inputs that Packline learns defaults for. All are short texts. */
export type LearnedField =
  /** Input `angle`. */
  | 'ANGLE'
  /** Input `audience`. */
  | 'AUDIENCE'
  /** Input `author`. */
  | 'AUTHOR'
  /** Input `format`. */
  | 'FORMAT'
  /** Input `kind`. */
  | 'KIND'
  /** Input `model`. */
  | 'MODEL'
  /** Input `persona`. */
  | 'PERSONA'
  /** Input `persona_used`. */
  | 'PERSONA_USED'
  /** Input `theme`. */
  | 'THEME'
  /** Input `voice`. */
  | 'VOICE';

/** The severity of a log line. */
export type LogLevel =
  /** Details for debugging. */
  | 'DEBUG'
  /** Something failed. */
  | 'ERROR'
  /** Normal progress. */
  | 'INFO'
  /** Something unexpected that did not stop the step. */
  | 'WARNING';

/** Filters for lines of a log. All given fields must match. */
export type LogLineFilter = {
  /** Only lines of one of these levels. */
  levels?: Array<LogLevel> | null | undefined;
  /** Only lines that contain this text. Case is ignored; on SQLite, only that of ASCII letters. */
  text?: string | null | undefined;
};

/** How a pack changes external systems. */
export type PackEffects =
  /** Changes an external system on every call, such as sending mail or making a payment. */
  | 'EXTERNAL'
  /** Changes an external system, but repeating the call changes nothing more. */
  | 'IDEMPOTENT'
  /** Changes nothing outside Packline. */
  | 'NONE';

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

/** How a resume treats a step. */
export type ResumeAction =
  /** Reuse its output without running it. */
  | 'REUSE'
  /** Run it. */
  | 'RUN'
  /** Run it again although it succeeded, because its session or an artifact is no longer available or cannot be shared. */
  | 'RUN_AGAIN';

/** What a caller can do with a run. */
export type RunAction =
  /** Mark its failure as handled. */
  | 'ACKNOWLEDGE'
  /** Cancel the run. */
  | 'CANCEL'
  /** Delete the run and its artifacts. */
  | 'DELETE'
  /** Propose a pipeline based on the run. */
  | 'PROMOTE'
  /** Start a new run from the first step. */
  | 'RERUN'
  /** Continue the same run at the first step that has not succeeded. */
  | 'RESUME';

/** What started a run. */
export type RunCause =
  /** Another agent, over A2A. */
  | 'A2A'
  /** An agent, over MCP. */
  | 'AGENT'
  /** A person, in the web page, on the command line or with a script. */
  | 'PERSON'
  /** A re-run of another run. */
  | 'RERUN'
  /** A trigger that fires when a run ends. */
  | 'RUN_ENDED'
  /** A trigger with a schedule. */
  | 'SCHEDULE'
  /** A webhook. */
  | 'WEBHOOK';

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

/** The source of a step's input. */
export type StepInputSource =
  /** The input in the definition. */
  | 'DEFINITION'
  /** The `stepInput` of an earlier resume. Pass `stepInput: null` to discard it. */
  | 'EARLIER_STEP_INPUT'
  /** The `stepInput` of this resume. */
  | 'STEP_INPUT';

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

/** Kinds of transcript entries. */
export type TranscriptKind =
  /** A gap: the middle of a transcript that is too long is left out. */
  | 'CUT'
  /** A tool call or command that was denied. */
  | 'DENIAL'
  /** Standard error output. */
  | 'ERROR_OUTPUT'
  /** A message from the agent. */
  | 'MESSAGE'
  /** Other standard output. */
  | 'OUTPUT'
  /** The prompt given to the agent. */
  | 'PROMPT'
  /** A tool or command that the agent called. */
  | 'TOOL_CALL'
  /** The result of a tool or command. */
  | 'TOOL_RESULT'
  /** Tokens and cost reported by the agent. */
  | 'USAGE';

/** What a run or step can wait for. */
export type WaitReason =
  /** The delay before the next attempt. */
  | 'RETRY'
  /** A free worker, or a free slot within the caller's limit of concurrent runs. */
  | 'SLOT'
  /** The start time that was asked for. */
  | 'START_TIME'
  /** A worker that has what the next step needs; none is alive. */
  | 'WORKER';

export type RunPageQueryVariables = Exact<{
  id: string;
}>;


export type RunPageQuery = { server: { now: string }, run: { eventCursor: string, inputs: unknown, deadlineAt: string | null, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, worker: string | null, steps: Array<{ id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, step:
        | { candidates: Array<string>, key: string, position: number }
        | { packName: string, key: string, position: number }
       | null, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> }>, fromMemory: Array<{ field: LearnedField, value: string }>, version: { id: string, number: number } | null, rerunOf: { id: string, title: string } | null, pipeline: { id: string, key: string, name: string, currentVersion: { id: string, number: number } } | null, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> } | null };

export type StartedRunsQueryVariables = Exact<{
  run: string;
}>;


export type StartedRunsQuery = { runs: { nodes: Array<{ id: string, title: string, state: RunState }>, pageInfo: { hasNextPage: boolean } } };

export type RunHeadFragment = { eventCursor: string, inputs: unknown, deadlineAt: string | null, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, worker: string | null, fromMemory: Array<{ field: LearnedField, value: string }>, version: { id: string, number: number } | null, rerunOf: { id: string, title: string } | null, pipeline: { id: string, key: string, name: string, currentVersion: { id: string, number: number } } | null, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> };

export type StepRowFragment = { id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, step:
    | { candidates: Array<string>, key: string, position: number }
    | { packName: string, key: string, position: number }
   | null, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> };

export type StepNowFragment = { id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> };

export type RunWholeFragment = { eventCursor: string, inputs: unknown, deadlineAt: string | null, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, worker: string | null, steps: Array<{ id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, step:
      | { candidates: Array<string>, key: string, position: number }
      | { packName: string, key: string, position: number }
     | null, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> }>, fromMemory: Array<{ field: LearnedField, value: string }>, version: { id: string, number: number } | null, rerunOf: { id: string, title: string } | null, pipeline: { id: string, key: string, name: string, currentVersion: { id: string, number: number } } | null, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> };

export type RunWorkersFragment = { worker: string | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> };

export type RunNowFragment = { id: string, state: RunState, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, actions: Array<RunAction>, eventCursor: string, worker: string | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> };

export type RunEventsSubscriptionVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type RunEventsSubscription = { runEvents:
    | { __typename: 'RunEventBatch', cursor: string, live: boolean, run: { id: string, state: RunState, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, actions: Array<RunAction>, eventCursor: string, worker: string | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> }, changedSteps: Array<{ id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> }>, events: Array<
        | { __typename: 'ArtifactChanged' }
        | { __typename: 'AttemptStateChanged' }
        | { __typename: 'RunStateChanged' }
        | { __typename: 'StepProgressed', runStep: { id: string, progress: number | null, milestones: Array<{ at: string, fraction: number | null, message: string }> } }
        | { __typename: 'StepStateChanged' }
      > }
    | { __typename: 'RunEventGap', cursor: string, missed: number | null }
    | { __typename: 'RunEventsEnd', cursor: string }
   };

export type StepDetailQueryVariables = Exact<{
  id: string;
  key: string;
}>;


export type StepDetailQuery = { run: { id: string, step: { id: string, key: string, input: { json: unknown, text: string | null, sizeBytes: number } | null, output: { json: unknown, text: string | null, sizeBytes: number } | null, step:
        | { key: string, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
        | { packName: string, input: unknown, key: string, pack: { id: string, inputSchema: unknown, effects: PackEffects } | null, references: Array<{ path: Array<string>, expression: string, sourceStep: string | null, sourcePath: string }> }
       | null } | null } | null };

export type PayloadPartsFragment = { json: unknown, text: string | null, sizeBytes: number };

export type AttemptLogQueryVariables = Exact<{
  id: string;
  filter?: LogLineFilter | null | undefined;
  fromLine?: number | null | undefined;
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
}>;


export type AttemptLogQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string, log: { totalCount: number, nodes: Array<{ number: number, at: string, level: LogLevel, text: string }>, pageInfo: { endCursor: string | null, hasNextPage: boolean } } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type LinePartsFragment = { number: number, at: string, level: LogLevel, text: string };

export type AttemptOutputSubscriptionVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type AttemptOutputSubscription = { attemptOutput:
    | { __typename: 'AttemptOutputBatch', cursor: string, live: boolean, lines: Array<{ number: number, at: string, level: LogLevel, text: string }> }
    | { __typename: 'AttemptOutputEnd', cursor: string }
    | { __typename: 'AttemptOutputGap', cursor: string }
   };

export type EntryPartsFragment = { sequence: number, at: string | null, kind: TranscriptKind, text: string | null, data: unknown };

export type AttemptTranscriptQueryVariables = Exact<{
  id: string;
}>;


export type AttemptTranscriptQuery = { node:
    | { id: string }
    | { id: string }
    | { isolation: IsolationLevel | null, transcriptUrl: string | null, id: string, cacheReceipt: { madeAt: string, madeBy: { id: string, number: number, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null, transcript: { nodes: Array<{ sequence: number, at: string | null, kind: TranscriptKind, text: string | null, data: unknown }>, pageInfo: { startCursor: string | null, endCursor: string | null, hasPreviousPage: boolean } } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type AttemptEntriesSubscriptionVariables = Exact<{
  id: string;
  after?: string | null | undefined;
}>;


export type AttemptEntriesSubscription = { attemptOutput:
    | { __typename: 'AttemptOutputBatch', cursor: string, live: boolean, entries: Array<{ sequence: number, at: string | null, kind: TranscriptKind, text: string | null, data: unknown }> }
    | { __typename: 'AttemptOutputEnd', cursor: string }
    | { __typename: 'AttemptOutputGap', cursor: string }
   };

export type EarlierTranscriptQueryVariables = Exact<{
  id: string;
  before: string;
}>;


export type EarlierTranscriptQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string, earlier: { nodes: Array<{ sequence: number, at: string | null, kind: TranscriptKind, text: string | null, data: unknown }>, pageInfo: { startCursor: string | null, hasPreviousPage: boolean } } }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type StepArtifactsQueryVariables = Exact<{
  id: string;
}>;


export type StepArtifactsQuery = { node:
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string, artifacts: Array<{ downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }> }
    | { id: string }
   | null };

export type PreviewPartsFragment = { allowed: boolean, definitionChanged: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, steps: Array<{ key: string, action: ResumeAction, reason: string, effects: PackEffects, mayRepeatEffects: boolean, inputSource: StepInputSource | null, input: { json: unknown, text: string | null, sizeBytes: number } | null }> };

export type ChangeableStepQueryVariables = Exact<{
  id: string;
  key: string;
}>;


export type ChangeableStepQuery = { run: { id: string, step: { id: string, whole: { json: unknown, text: string | null } | null, step:
        | { key: string }
        | { key: string, pack: { id: string, inputSchema: unknown } | null }
       | null } | null } | null };

export type ChangeableInputsQueryVariables = Exact<{
  id: string;
}>;


export type ChangeableInputsQuery = { run: { id: string, version: { id: string, inputSchema: unknown } | null, steps: Array<{ id: string, state: StepState, step:
        | { key: string, references: Array<{ sourceStep: string | null, sourcePath: string }> }
        | { key: string, references: Array<{ sourceStep: string | null, sourcePath: string }> }
       | null }> } | null };

export type RunSchemasQueryVariables = Exact<{
  id: string;
}>;


export type RunSchemasQuery = { run: { id: string, version: { id: string, inputSchema: unknown } | null, pack: { id: string, inputSchema: unknown } | null, pipeline: { id: string, inputSchema: unknown } | null } | null };

export type WholeOutputQueryVariables = Exact<{
  id: string;
  key: string;
}>;


export type WholeOutputQuery = { run: { id: string, step: { id: string, whole: { json: unknown, text: string | null } | null } | null } | null };

export type AttemptDetailQueryVariables = Exact<{
  id: string;
}>;


export type AttemptDetailQuery = { node:
    | { id: string }
    | { id: string }
    | { packVersion: string | null, id: string, input: { json: unknown, text: string | null, sizeBytes: number } | null, output: { json: unknown, text: string | null, sizeBytes: number } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ downloadUrl: string | null, previewUrl: string | null, id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }> }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
    | { id: string }
   | null };

export type ResumePlanQueryVariables = Exact<{
  id: string;
  stepInput?: unknown;
  inputs?: unknown;
  definition?: DefinitionChoice;
}>;


export type ResumePlanQuery = { run: { id: string, resumePreview: { allowed: boolean, definitionChanged: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, steps: Array<{ key: string, action: ResumeAction, reason: string, effects: PackEffects, mayRepeatEffects: boolean, inputSource: StepInputSource | null, input: { json: unknown, text: string | null, sizeBytes: number } | null }> } | null } | null };

export type RerunPlanQueryVariables = Exact<{
  id: string;
  inputs?: unknown;
  fromStep?: string | null | undefined;
  definition?: DefinitionChoice;
}>;


export type RerunPlanQuery = { run: { id: string, rerunPreview: { allowed: boolean, definitionChanged: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, steps: Array<{ key: string, action: ResumeAction, reason: string, effects: PackEffects, mayRepeatEffects: boolean, inputSource: StepInputSource | null, input: { json: unknown, text: string | null, sizeBytes: number } | null }> } } | null };

export type ResumeRunMutationVariables = Exact<{
  id: string;
  stepInput?: unknown;
  inputs?: unknown;
  definition?: DefinitionChoice;
}>;


export type ResumeRunMutation = { resumeRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { eventCursor: string, inputs: unknown, deadlineAt: string | null, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, worker: string | null, steps: Array<{ id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, step:
            | { candidates: Array<string>, key: string, position: number }
            | { packName: string, key: string, position: number }
           | null, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> }>, fromMemory: Array<{ field: LearnedField, value: string }>, version: { id: string, number: number } | null, rerunOf: { id: string, title: string } | null, pipeline: { id: string, key: string, name: string, currentVersion: { id: string, number: number } } | null, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> } }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type RerunRunMutationVariables = Exact<{
  id: string;
  inputs: unknown;
  fromStep?: string | null | undefined;
  definition?: DefinitionChoice;
  force?: boolean;
  idempotencyKey?: string | null | undefined;
}>;


export type RerunRunMutation = { rerunRun:
    | { __typename: 'ConflictProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'InvalidProblem', message: string, code: ProblemCode, retryable: boolean, issues: Array<{ path: Array<string>, rule: string, severity: Severity, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'LimitedProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'StartRunSuccess', run: { id: string } | null }
    | { __typename: 'UnavailableProblem', message: string, code: ProblemCode, retryable: boolean, missing: Array<{ kind: RequirementKind, name: string, steps: Array<string>, message: string, hint: string | null }>, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type CancelRunMutationVariables = Exact<{
  id: string;
}>;


export type CancelRunMutation = { cancelRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { eventCursor: string, inputs: unknown, deadlineAt: string | null, id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, worker: string | null, steps: Array<{ id: string, key: string, packVersion: string | null, agent: string | null, state: StepState, progress: number | null, startedAt: string | null, endedAt: string | null, warnings: Array<string>, step:
            | { candidates: Array<string>, key: string, position: number }
            | { packName: string, key: string, position: number }
           | null, wait: { reason: WaitReason, message: string, until: string | null } | null, milestones: Array<{ at: string, fraction: number | null, message: string }>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, artifacts: Array<{ id: string, name: string, mediaType: string, sizeBytes: number, status: ArtifactStatus, createdAt: string, expiresAt: string | null, pinned: boolean, verifiedBy: { id: string, key: string } | null }>, attempts: Array<{ id: string, number: number, state: AttemptState, startedAt: string, endedAt: string | null, models: Array<string>, notes: Array<string>, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, exception: { type: string, traceback: Array<string>, foldedTraceback: Array<string> } | null, reuse: { madeBy: { id: string, runStep: { id: string, key: string, run: { id: string, title: string } } } | null } | null }> }>, fromMemory: Array<{ field: LearnedField, value: string }>, version: { id: string, number: number } | null, rerunOf: { id: string, title: string } | null, pipeline: { id: string, key: string, name: string, currentVersion: { id: string, number: number } } | null, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, caller: { id: string, name: string }, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null, takeovers: Array<{ at: string, worker: string, previousWorker: string, lost: boolean }> } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export type AcknowledgeRunMutationVariables = Exact<{
  id: string;
  acknowledged: boolean;
}>;


export type AcknowledgeRunMutation = { acknowledgeRun:
    | { __typename: 'ForbiddenProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'NotFoundProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
    | { __typename: 'RunSuccess', run: { id: string, title: string, state: RunState, cause: RunCause, clientName: string | null, createdAt: string, startedAt: string | null, endedAt: string | null, progress: number, resumeCount: number, acknowledgedAt: string | null, workSeconds: number, actions: Array<RunAction>, trigger: { id: string, name: string } | null, endedRun: { id: string, title: string } | null, rerunOf: { id: string, title: string } | null, caller: { id: string, name: string }, pipeline: { id: string, key: string, name: string } | null, pack: { id: string, name: string } | null, failure: { code: FailureCode, class: FailureClass, message: string, cause: string, field: string | null, hint: string, remedy: FailureRemedy, fixableBy: string, retryable: boolean, retryAfterSeconds: number | null, safeToRepeat: boolean, stepKey: string | null, detail: unknown } | null, wait: { reason: WaitReason, message: string, until: string | null } | null, cost: { amountUsd: number | null, usage: { input: number, output: number } | null }, currentStep: { id: string, key: string, state: StepState } | null } }
    | { __typename: 'WrongStateProblem', message: string, code: ProblemCode, retryable: boolean, hintParts: { text: string | null, closest: string | null } | null }
   | null };

export const RunWorkersFragmentDoc = /*#__PURE__*/ gql`
    fragment RunWorkers on Run {
  worker
  takeovers {
    at
    worker
    previousWorker
    lost
  }
}
    ` as unknown as DocumentNode<RunWorkersFragment, unknown>;
export const RunHeadFragmentDoc = /*#__PURE__*/ gql`
    fragment RunHead on Run {
  ...RunRow
  ...RunWorkers
  eventCursor
  inputs
  fromMemory {
    field
    value
  }
  deadlineAt
  version {
    id
    number
  }
  rerunOf {
    id
    title
  }
  pipeline {
    id
    currentVersion {
      id
      number
    }
  }
}
    ` as unknown as DocumentNode<RunHeadFragment, unknown>;
export const StepNowFragmentDoc = /*#__PURE__*/ gql`
    fragment StepNow on RunStep {
  id
  key
  packVersion
  agent
  state
  progress
  startedAt
  endedAt
  warnings
  wait {
    ...WaitParts
  }
  milestones {
    at
    fraction
    message
  }
  failure {
    ...FailureParts
  }
  cost {
    ...CostParts
  }
  artifacts {
    ...ArtifactRow
  }
  attempts {
    id
    number
    state
    startedAt
    endedAt
    models
    notes
    failure {
      ...FailureParts
    }
    exception {
      type
      traceback
      foldedTraceback
    }
    reuse {
      madeBy {
        id
        runStep {
          id
          key
          run {
            id
            title
          }
        }
      }
    }
  }
}
    ` as unknown as DocumentNode<StepNowFragment, unknown>;
export const StepRowFragmentDoc = /*#__PURE__*/ gql`
    fragment StepRow on RunStep {
  ...StepNow
  step {
    key
    position
    ... on AgentStep {
      candidates
    }
    ... on PackStep {
      packName
    }
  }
}
    ` as unknown as DocumentNode<StepRowFragment, unknown>;
export const RunWholeFragmentDoc = /*#__PURE__*/ gql`
    fragment RunWhole on Run {
  ...RunHead
  steps {
    ...StepRow
  }
}
    ` as unknown as DocumentNode<RunWholeFragment, unknown>;
export const RunNowFragmentDoc = /*#__PURE__*/ gql`
    fragment RunNow on Run {
  ...RunWorkers
  id
  state
  startedAt
  endedAt
  progress
  resumeCount
  acknowledgedAt
  actions
  eventCursor
  failure {
    ...FailureParts
  }
  wait {
    ...WaitParts
  }
  cost {
    ...CostParts
  }
}
    ` as unknown as DocumentNode<RunNowFragment, unknown>;
export const PayloadPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment PayloadParts on Payload {
  json
  text
  sizeBytes
}
    ` as unknown as DocumentNode<PayloadPartsFragment, unknown>;
export const LinePartsFragmentDoc = /*#__PURE__*/ gql`
    fragment LineParts on LogLine {
  number
  at
  level
  text
}
    ` as unknown as DocumentNode<LinePartsFragment, unknown>;
export const EntryPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment EntryParts on TranscriptEntry {
  sequence
  at
  kind
  text
  data
}
    ` as unknown as DocumentNode<EntryPartsFragment, unknown>;
export const PreviewPartsFragmentDoc = /*#__PURE__*/ gql`
    fragment PreviewParts on ResumePreview {
  allowed
  definitionChanged
  issues {
    path
    rule
    severity
    message
    hint
  }
  steps {
    key
    action
    reason
    effects
    mayRepeatEffects
    inputSource
    input(limitBytes: 16384) {
      json
      text
      sizeBytes
    }
  }
}
    ` as unknown as DocumentNode<PreviewPartsFragment, unknown>;
export const RunPageDocument = /*#__PURE__*/ gql`
    query RunPage($id: ID!) {
  server {
    now
  }
  run(id: $id) {
    ...RunWhole
  }
}
    ${RunWholeFragmentDoc}
${RunHeadFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}
${RunWorkersFragmentDoc}
${StepRowFragmentDoc}
${StepNowFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<RunPageQuery, RunPageQueryVariables>;
export const StartedRunsDocument = /*#__PURE__*/ gql`
    query StartedRuns($run: ID!) {
  runs(filter: {endedRun: $run}, first: 5) {
    nodes {
      id
      title
      state
    }
    pageInfo {
      hasNextPage
    }
  }
}
    ` as unknown as DocumentNode<StartedRunsQuery, StartedRunsQueryVariables>;
export const RunEventsDocument = /*#__PURE__*/ gql`
    subscription RunEvents($id: ID!, $after: Cursor) {
  runEvents(id: $id, after: $after) {
    __typename
    ... on RunEventBatch {
      cursor
      live
      run {
        ...RunNow
      }
      changedSteps {
        ...StepNow
      }
      events {
        __typename
        ... on StepProgressed {
          runStep {
            id
            progress
            milestones {
              at
              fraction
              message
            }
          }
        }
      }
    }
    ... on RunEventGap {
      cursor
      missed
    }
    ... on RunEventsEnd {
      cursor
    }
  }
}
    ${RunNowFragmentDoc}
${RunWorkersFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}
${StepNowFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<RunEventsSubscription, RunEventsSubscriptionVariables>;
export const StepDetailDocument = /*#__PURE__*/ gql`
    query StepDetail($id: ID!, $key: Key!) {
  run(id: $id) {
    id
    step(key: $key) {
      id
      key
      input {
        ...PayloadParts
      }
      output {
        ...PayloadParts
      }
      step {
        key
        references {
          path
          expression
          sourceStep
          sourcePath
        }
        ... on PackStep {
          packName
          input
          pack {
            id
            inputSchema
            effects
          }
        }
      }
    }
  }
}
    ${PayloadPartsFragmentDoc}` as unknown as DocumentNode<StepDetailQuery, StepDetailQueryVariables>;
export const AttemptLogDocument = /*#__PURE__*/ gql`
    query AttemptLog($id: ID!, $filter: LogLineFilter, $fromLine: Int, $first: Int, $after: Cursor, $last: Int) {
  node(id: $id) {
    id
    ... on Attempt {
      log(
        filter: $filter
        fromLine: $fromLine
        first: $first
        after: $after
        last: $last
      ) {
        totalCount
        nodes {
          ...LineParts
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
}
    ${LinePartsFragmentDoc}` as unknown as DocumentNode<AttemptLogQuery, AttemptLogQueryVariables>;
export const AttemptOutputDocument = /*#__PURE__*/ gql`
    subscription AttemptOutput($id: ID!, $after: Cursor) {
  attemptOutput(id: $id, after: $after) {
    __typename
    ... on AttemptOutputBatch {
      cursor
      live
      lines {
        ...LineParts
      }
    }
    ... on AttemptOutputGap {
      cursor
    }
    ... on AttemptOutputEnd {
      cursor
    }
  }
}
    ${LinePartsFragmentDoc}` as unknown as DocumentNode<AttemptOutputSubscription, AttemptOutputSubscriptionVariables>;
export const AttemptTranscriptDocument = /*#__PURE__*/ gql`
    query AttemptTranscript($id: ID!) {
  node(id: $id) {
    id
    ... on Attempt {
      isolation
      transcriptUrl
      cacheReceipt {
        madeAt
        madeBy {
          id
          number
          runStep {
            id
            key
            run {
              id
              title
            }
          }
        }
      }
      transcript(last: 500) {
        nodes {
          ...EntryParts
        }
        pageInfo {
          startCursor
          endCursor
          hasPreviousPage
        }
      }
    }
  }
}
    ${EntryPartsFragmentDoc}` as unknown as DocumentNode<AttemptTranscriptQuery, AttemptTranscriptQueryVariables>;
export const AttemptEntriesDocument = /*#__PURE__*/ gql`
    subscription AttemptEntries($id: ID!, $after: Cursor) {
  attemptOutput(id: $id, after: $after) {
    __typename
    ... on AttemptOutputBatch {
      cursor
      live
      entries {
        ...EntryParts
      }
    }
    ... on AttemptOutputGap {
      cursor
    }
    ... on AttemptOutputEnd {
      cursor
    }
  }
}
    ${EntryPartsFragmentDoc}` as unknown as DocumentNode<AttemptEntriesSubscription, AttemptEntriesSubscriptionVariables>;
export const EarlierTranscriptDocument = /*#__PURE__*/ gql`
    query EarlierTranscript($id: ID!, $before: Cursor!) {
  node(id: $id) {
    id
    ... on Attempt {
      earlier: transcript(last: 500, before: $before) {
        nodes {
          ...EntryParts
        }
        pageInfo {
          startCursor
          hasPreviousPage
        }
      }
    }
  }
}
    ${EntryPartsFragmentDoc}` as unknown as DocumentNode<EarlierTranscriptQuery, EarlierTranscriptQueryVariables>;
export const StepArtifactsDocument = /*#__PURE__*/ gql`
    query StepArtifacts($id: ID!) {
  node(id: $id) {
    id
    ... on RunStep {
      artifacts {
        ...ArtifactRow
        downloadUrl
        previewUrl
      }
    }
  }
}
    ${ArtifactRowFragmentDoc}` as unknown as DocumentNode<StepArtifactsQuery, StepArtifactsQueryVariables>;
export const ChangeableStepDocument = /*#__PURE__*/ gql`
    query ChangeableStep($id: ID!, $key: Key!) {
  run(id: $id) {
    id
    step(key: $key) {
      id
      whole: input(limitBytes: 1048576) {
        json
        text
      }
      step {
        key
        ... on PackStep {
          pack {
            id
            inputSchema
          }
        }
      }
    }
  }
}
    ` as unknown as DocumentNode<ChangeableStepQuery, ChangeableStepQueryVariables>;
export const ChangeableInputsDocument = /*#__PURE__*/ gql`
    query ChangeableInputs($id: ID!) {
  run(id: $id) {
    id
    version {
      id
      inputSchema
    }
    steps {
      id
      state
      step {
        key
        references {
          sourceStep
          sourcePath
        }
      }
    }
  }
}
    ` as unknown as DocumentNode<ChangeableInputsQuery, ChangeableInputsQueryVariables>;
export const RunSchemasDocument = /*#__PURE__*/ gql`
    query RunSchemas($id: ID!) {
  run(id: $id) {
    id
    version {
      id
      inputSchema
    }
    pack {
      id
      inputSchema
    }
    pipeline {
      id
      inputSchema
    }
  }
}
    ` as unknown as DocumentNode<RunSchemasQuery, RunSchemasQueryVariables>;
export const WholeOutputDocument = /*#__PURE__*/ gql`
    query WholeOutput($id: ID!, $key: Key!) {
  run(id: $id) {
    id
    step(key: $key) {
      id
      whole: output(limitBytes: 1048576) {
        json
        text
      }
    }
  }
}
    ` as unknown as DocumentNode<WholeOutputQuery, WholeOutputQueryVariables>;
export const AttemptDetailDocument = /*#__PURE__*/ gql`
    query AttemptDetail($id: ID!) {
  node(id: $id) {
    id
    ... on Attempt {
      packVersion
      input {
        ...PayloadParts
      }
      output {
        ...PayloadParts
      }
      cost {
        ...CostParts
      }
      artifacts {
        ...ArtifactRow
        downloadUrl
        previewUrl
      }
    }
  }
}
    ${PayloadPartsFragmentDoc}
${CostPartsFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<AttemptDetailQuery, AttemptDetailQueryVariables>;
export const ResumePlanDocument = /*#__PURE__*/ gql`
    query ResumePlan($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice! = OF_RUN) {
  run(id: $id) {
    id
    resumePreview(stepInput: $stepInput, inputs: $inputs, definition: $definition) {
      ...PreviewParts
    }
  }
}
    ${PreviewPartsFragmentDoc}` as unknown as DocumentNode<ResumePlanQuery, ResumePlanQueryVariables>;
export const RerunPlanDocument = /*#__PURE__*/ gql`
    query RerunPlan($id: ID!, $inputs: JSON, $fromStep: Key, $definition: DefinitionChoice! = OF_RUN) {
  run(id: $id) {
    id
    rerunPreview(inputs: $inputs, fromStep: $fromStep, definition: $definition) {
      ...PreviewParts
    }
  }
}
    ${PreviewPartsFragmentDoc}` as unknown as DocumentNode<RerunPlanQuery, RerunPlanQueryVariables>;
export const ResumeRunDocument = /*#__PURE__*/ gql`
    mutation ResumeRun($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice! = OF_RUN) {
  resumeRun(
    id: $id
    stepInput: $stepInput
    inputs: $inputs
    definition: $definition
  ) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunWholeFragmentDoc}
${RunHeadFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}
${RunWorkersFragmentDoc}
${StepRowFragmentDoc}
${StepNowFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<ResumeRunMutation, ResumeRunMutationVariables>;
export const RerunRunDocument = /*#__PURE__*/ gql`
    mutation RerunRun($id: ID!, $inputs: JSON!, $fromStep: Key, $definition: DefinitionChoice! = OF_RUN, $force: Boolean! = false, $idempotencyKey: String) {
  rerunRun(
    id: $id
    inputs: $inputs
    fromStep: $fromStep
    definition: $definition
    force: $force
    idempotencyKey: $idempotencyKey
  ) {
    __typename
    ...ProblemParts
    ... on StartRunSuccess {
      run {
        id
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}` as unknown as DocumentNode<RerunRunMutation, RerunRunMutationVariables>;
export const CancelRunDocument = /*#__PURE__*/ gql`
    mutation CancelRun($id: ID!) {
  cancelRun(id: $id) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunWhole
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunWholeFragmentDoc}
${RunHeadFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}
${RunWorkersFragmentDoc}
${StepRowFragmentDoc}
${StepNowFragmentDoc}
${ArtifactRowFragmentDoc}` as unknown as DocumentNode<CancelRunMutation, CancelRunMutationVariables>;
export const AcknowledgeRunDocument = /*#__PURE__*/ gql`
    mutation AcknowledgeRun($id: ID!, $acknowledged: Boolean!) {
  acknowledgeRun(id: $id, acknowledged: $acknowledged) {
    __typename
    ...ProblemParts
    ... on RunSuccess {
      run {
        ...RunRow
      }
    }
  }
}
    ${ProblemPartsFragmentDoc}
${RunRowFragmentDoc}
${FailurePartsFragmentDoc}
${WaitPartsFragmentDoc}
${CostPartsFragmentDoc}` as unknown as DocumentNode<AcknowledgeRunMutation, AcknowledgeRunMutationVariables>;