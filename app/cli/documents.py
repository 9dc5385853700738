"""Every GraphQL document the command line sends; a test checks each against the schema.

Documents are whole texts, made of the fragments they need, because a client in a script should be able to send the
same text.
"""

from __future__ import annotations

_FAILURE = """
fragment FailureParts on Failure { code class message field hint retryable retryAfterSeconds safeToRepeat stepKey }
"""

ARTIFACT_PARTS = """
fragment ArtifactParts on Artifact { id name mediaType sizeBytes digest status downloadUrl expiresAt }
"""

_RUN = (
    _FAILURE
    + ARTIFACT_PARTS
    + """
fragment RunParts on Run {
  id title state cause clientName createdAt startedAt endedAt deadlineAt
  progress workSeconds resumeCount eventCursor actions
  wait { reason message until }
  failure { ...FailureParts }
  pipeline { id key name }
  pack { id }
  version { number }
  caller { name subject }
  rerunOf { id }
  steps { ...StepParts }
  artifacts(first: 100) { nodes { ...ArtifactParts } }
}
fragment StepParts on RunStep {
  id key state progress startedAt endedAt warnings
  step { ... on PackStep { packName } }
  wait { reason message until }
  failure { ...FailureParts }
  attempts { number state reuse { madeBy { runStep { run { id } } } } }
  milestones { at fraction message }
}
"""
)

#: Everything `packline show` prints of one run; steps by key carry their values.
_RUN_DETAIL = """
fragment CostParts on Cost { usage { input output } amountUsd }
fragment RunDetail on Run {
  inputs
  output { json excerpt truncated sizeBytes }
  cost { ...CostParts }
  steps {
    cost { ...CostParts }
    id packVersion agent input { json excerpt truncated sizeBytes } output { json excerpt truncated sizeBytes }
    artifacts { ...ArtifactParts }
    attempts {
      id number state startedAt endedAt packVersion models failure { ...FailureParts }
      log(last: 50) { nodes { at level text } }
    }
  }
}
"""

_RUN_LINE = """
fragment RunLine on Run {
  id title state cause clientName createdAt startedAt endedAt progress
  wait { reason message until }
  failure { code message hint stepKey }
  pipeline { key name }
  pack { id }
  caller { name subject }
}
"""

_ISSUE = "fragment IssueParts on Issue { path rule severity message hint }\n"

_REQUIREMENT = "fragment RequirementParts on Requirement { kind name steps message hint }\n"

PROBLEM_PARTS = (
    _ISSUE
    + _REQUIREMENT
    + """
fragment ProblemParts on Problem {
  __typename message code hint retryable
  ... on NotFoundProblem { ref suggestion }
  ... on ForbiddenProblem { requires }
  ... on InvalidProblem { issues { ...IssueParts } }
  ... on UnavailableProblem { missing { ...RequirementParts } }
  ... on LimitedProblem { retryAfterSeconds }
}
"""
)

SERVER = """
query CliServer {
  server { version accepting health { name ok message } }
  viewer { name subject scopes }
  modelRoles { role chain { key availability { usable missing { message hint } } } }
}
"""

PIPELINE_INPUTS = """
query CliPipelineInputs($id: ID!, $version: Int! = 0, $ofVersion: Boolean! = false) {
  pipeline(id: $id) {
    id key name inputSchema earlierNames { name inputs }
    versionByNumber(number: $version) @include(if: $ofVersion) { inputSchema }
  }
}
"""

RUN_INPUTS = """
query CliRunInputs($id: ID!) {
  run(id: $id) { id pipeline { id inputSchema } version { inputSchema } pack { id inputSchema } }
}
"""

PACK_INPUTS = "query CliPackInputs($id: ID!) { pack(id: $id) { id name inputSchema } }"

RUN_OUTPUT = "query CliRunOutput($id: ID!) { run(id: $id) { output { json excerpt truncated sizeBytes } } }"

RUN = _RUN + "query CliRun($id: ID!) { run(id: $id) { ...RunParts } }"

RUN_DETAIL = _RUN + _RUN_DETAIL + "query CliRunDetail($id: ID!) { run(id: $id) { ...RunParts ...RunDetail } }"

RUNS = (
    _RUN_LINE
    + """
query CliRuns($filter: RunFilter, $first: Int, $after: Cursor) {
  runs(filter: $filter, first: $first, after: $after) {
    nodes { ...RunLine }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

_STARTED = """
      ... on StartRunSuccess { coalesced replayed warnings { ...IssueParts } run { ...RunParts } }
"""

RUN_PIPELINE = (
    _RUN
    + PROBLEM_PARTS
    + """
mutation CliRunPipeline(
  $pipeline: ID!, $inputs: JSON!, $fromMemory: [LearnedField!]!, $version: Int, $title: String, $deadlineSeconds: Float,
  $idempotencyKey: String, $force: Boolean!, $agent: String, $dryRun: Boolean!
) {
  result: runPipeline(
    pipeline: $pipeline, inputs: $inputs, fromMemory: $fromMemory, version: $version, title: $title,
    deadlineSeconds: $deadlineSeconds, idempotencyKey: $idempotencyKey, force: $force, agent: $agent, dryRun: $dryRun
  ) {
    __typename"""
    + _STARTED
    + """      ...ProblemParts
  }
}
"""
)

RUN_PACK = (
    _RUN
    + PROBLEM_PARTS
    + """
mutation CliRunPack(
  $pack: ID!, $input: JSON!, $fromMemory: [LearnedField!]!, $version: String, $force: Boolean!,
  $idempotencyKey: String, $dryRun: Boolean!
) {
  result: runPack(
    pack: $pack, input: $input, fromMemory: $fromMemory, version: $version, force: $force,
    idempotencyKey: $idempotencyKey, dryRun: $dryRun
  ) {
    __typename"""
    + _STARTED
    + """      ...ProblemParts
  }
}
"""
)

RESUME_PREVIEW = (
    _ISSUE
    + """
query CliResumePreview($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice!) {
  run(id: $id) {
    id state
    pipeline { id key name inputSchema }
    resumePreview(stepInput: $stepInput, inputs: $inputs, definition: $definition) {
      allowed definitionChanged
      issues { ...IssueParts }
      steps { runStep { key } action reason effects mayRepeatEffects }
    }
  }
}
"""
)

RESUME_RUN = (
    _RUN
    + PROBLEM_PARTS
    + """
mutation CliResumeRun($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice!) {
  result: resumeRun(id: $id, stepInput: $stepInput, inputs: $inputs, definition: $definition) {
    __typename
    ... on RunSuccess { run { ...RunParts } }
    ...ProblemParts
  }
}
"""
)

RERUN_RUN = (
    _RUN
    + PROBLEM_PARTS
    + """
mutation CliRerunRun(
  $id: ID!, $inputs: JSON!, $fromMemory: [LearnedField!]!, $definition: DefinitionChoice!, $fromStep: Key,
  $idempotencyKey: String, $force: Boolean!, $agent: String
) {
  result: rerunRun(
    id: $id, inputs: $inputs, fromMemory: $fromMemory, definition: $definition, fromStep: $fromStep,
    idempotencyKey: $idempotencyKey, force: $force, agent: $agent
  ) {
    __typename"""
    + _STARTED
    + """      ...ProblemParts
  }
}
"""
)

CANCEL_RUN = (
    _RUN
    + PROBLEM_PARTS
    + """
mutation CliCancelRun($id: ID!, $reason: String) {
  result: cancelRun(id: $id, reason: $reason) {
    __typename
    ... on RunSuccess { run { ...RunParts } }
    ...ProblemParts
  }
}
"""
)

RUN_EVENTS = (
    _RUN
    + """
subscription CliRunEvents($id: ID!, $after: Cursor) {
  runEvents(id: $id, after: $after) {
    __typename
    ... on RunEventBatch {
      cursor live
      events {
        __typename sequence cursor at
        ... on RunStateChanged { previousRunState runState reason }
        ... on StepStateChanged { previousStepState stepState reason runStep { key } }
        ... on AttemptStateChanged { attemptState attempt { number runStep { key } failure { ...FailureParts } } }
        ... on StepProgressed { runStep { key } milestone { at fraction message } }
        ... on ArtifactChanged { artifactStatus artifact { ...ArtifactParts } }
      }
    }
    ... on RunEventGap { cursor missed run { ...RunParts } }
    ... on RunEventsEnd { cursor run { ...RunParts } }
  }
}
"""
)

CATALOG = (
    _REQUIREMENT
    + """
query CliCatalog($filter: CatalogFilter, $first: Int, $after: Cursor) {
  catalog(filter: $filter, first: $first, after: $after) {
    nodes {
      __typename id name description
      metadata { accepts produces typicalUse }
      availability { usable missing { ...RequirementParts } }
      ... on Pack { version effects source { kind location } }
      ... on Pipeline { key builtin }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

PIPELINES = (
    _REQUIREMENT
    + """
query CliPipelines($filter: PipelineFilter, $orderBy: PipelineOrder!, $first: Int, $after: Cursor) {
  pipelines(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    nodes {
      id key name description builtin updatedAt
      availability { usable missing { ...RequirementParts } }
      currentVersion { number }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

EXPORT_ONE = """
query CliExport($id: ID!) { pipeline(id: $id) { id key name builtin currentVersion { number yaml document } } }
"""

EXPORT_ALL = """
query CliExportAll($first: Int, $after: Cursor) {
  pipelines(filter: {builtin: false}, orderBy: NAME, first: $first, after: $after) {
    nodes { id key name builtin currentVersion { number yaml document } }
    pageInfo { hasNextPage endCursor }
  }
}
"""

APPLY = (
    PROBLEM_PARTS
    + """
mutation CliApply($yaml: String!, $dryRun: Boolean!) {
  result: applyPipelines(yaml: $yaml, dryRun: $dryRun) {
    __typename
    ... on ApplyPipelinesSuccess { changes { key action diff warnings { ...IssueParts } } }
    ...ProblemParts
  }
}
"""
)

_TOKEN = """
fragment TokenParts on ApiToken {
  id name beginning scopes createdAt expiresAt lastUsedAt revokedAt
  caller { id name subject }
}
"""

CREATE_TOKEN = (
    _TOKEN
    + PROBLEM_PARTS
    + """
mutation CliCreateToken($input: CreateTokenInput!) {
  result: createToken(input: $input) {
    __typename
    ... on CreateTokenSuccess { plaintext token { ...TokenParts } }
    ...ProblemParts
  }
}
"""
)

TOKENS = (
    _TOKEN
    + """
query CliTokens($first: Int, $after: Cursor) {
  callers(first: $first, after: $after) {
    nodes { id tokens(first: 100) { nodes { ...TokenParts } } }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

REVOKE_TOKEN = (
    _TOKEN
    + PROBLEM_PARTS
    + """
mutation CliRevokeToken($id: ID!) {
  result: revokeToken(id: $id) {
    __typename
    ... on RevokeTokenSuccess { token { ...TokenParts } }
    ...ProblemParts
  }
}
"""
)

RUN_ATTEMPTS = "query CliRunAttempts($id: ID!) { run(id: $id) { steps { key agent attempts { id number } } } }"

_ENTRY = "fragment EntryParts on TranscriptEntry { sequence at kind text data }\n"

TRANSCRIPT = (
    _ENTRY
    + """
query CliTranscript($id: ID!, $first: Int, $after: Cursor) {
  node(id: $id) {
    ... on Attempt {
      transcript(first: $first, after: $after) { nodes { ...EntryParts } pageInfo { hasNextPage endCursor } }
    }
  }
}
"""
)

RECEIPT = """
query CliReceipt($id: ID!) {
  node(id: $id) { ... on Attempt { cacheReceipt { madeBy { runStep { key run { id } } } } } }
}
"""

ATTEMPT_OUTPUT = (
    _ENTRY
    + """
subscription CliAttemptOutput($id: ID!, $after: Cursor) {
  attemptOutput(id: $id, after: $after) {
    __typename
    ... on AttemptOutputBatch { cursor entries { ...EntryParts } }
    ... on AttemptOutputGap { cursor }
    ... on AttemptOutputEnd { cursor }
  }
}
"""
)
