"""GraphQL documents of the commands that start and change runs."""

from __future__ import annotations

from app.cli.base.fragments import ISSUE_PARTS, PROBLEM_PARTS, RUN_PARTS

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

_STARTED = """
      ... on StartRunSuccess { coalesced replayed warnings { ...IssueParts } run { ...RunParts } }
"""

RUN_PIPELINE = (
    RUN_PARTS
    + PROBLEM_PARTS
    + """
mutation CliRunPipeline(
  $pipeline: ID!, $inputs: JSON!, $fromMemory: [LearnedField!]!, $version: Int, $title: String, $deadlineSeconds: Float,
  $startAt: DateTime, $idempotencyKey: String, $force: Boolean!, $agent: String, $dryRun: Boolean!
) {
  result: runPipeline(
    pipeline: $pipeline, inputs: $inputs, fromMemory: $fromMemory, version: $version, title: $title,
    deadlineSeconds: $deadlineSeconds, startAt: $startAt, idempotencyKey: $idempotencyKey, force: $force,
    agent: $agent, dryRun: $dryRun
  ) {
    __typename"""
    + _STARTED
    + """      ...ProblemParts
  }
}
"""
)

RUN_PACK = (
    RUN_PARTS
    + PROBLEM_PARTS
    + """
mutation CliRunPack(
  $pack: ID!, $input: JSON!, $fromMemory: [LearnedField!]!, $version: String, $force: Boolean!,
  $startAt: DateTime, $idempotencyKey: String, $dryRun: Boolean!
) {
  result: runPack(
    pack: $pack, input: $input, fromMemory: $fromMemory, version: $version, force: $force,
    startAt: $startAt, idempotencyKey: $idempotencyKey, dryRun: $dryRun
  ) {
    __typename"""
    + _STARTED
    + """      ...ProblemParts
  }
}
"""
)

_PLAN_PARTS = """
fragment PlanParts on ResumePreview {
  allowed definitionChanged
  issues { ...IssueParts }
  steps { key action reason effects mayRepeatEffects inputSource input { json text } }
}
"""

RESUME_PREVIEW = (
    ISSUE_PARTS
    + _PLAN_PARTS
    + """
query CliResumePreview($id: ID!, $stepInput: JSON, $inputs: JSON, $definition: DefinitionChoice!) {
  run(id: $id) {
    id state
    pipeline { id key name inputSchema }
    resumePreview(stepInput: $stepInput, inputs: $inputs, definition: $definition) { ...PlanParts }
  }
}
"""
)

RERUN_PREVIEW = (
    ISSUE_PARTS
    + _PLAN_PARTS
    + """
query CliRerunPreview($id: ID!, $inputs: JSON, $definition: DefinitionChoice!, $fromStep: Key) {
  run(id: $id) { id rerunPreview(inputs: $inputs, definition: $definition, fromStep: $fromStep) { ...PlanParts } }
}
"""
)

RESUME_RUN = (
    RUN_PARTS
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
    RUN_PARTS
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
    RUN_PARTS
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
