"""GraphQL documents of the commands that show runs."""

from __future__ import annotations

from app.cli.base.fragments import RUN_PARTS

#: The fields that `packline show` prints.
_RUN_DETAIL = """
fragment CostParts on Cost { usage { input output } amountUsd }
fragment RunDetail on Run {
  worker
  takeovers { at worker previousWorker lost }
  inputs
  output(limitBytes: $outputBytes) { json text nextOffset sizeBytes }
  cost { ...CostParts }
  steps {
    cost { ...CostParts }
    id packVersion agent input { json text nextOffset sizeBytes } output { json text nextOffset sizeBytes }
    artifacts { ...ArtifactParts }
    attempts {
      id packVersion models notes failure { ...FailureParts }
      exception { type message file line traceback foldedTraceback }
      log(last: 50) { nodes { at level text } }
    }
  }
}
"""

_RUN_LINE = """
fragment RunLine on Run {
  id title state cause clientName createdAt startedAt endedAt progress workSeconds resumeCount
  wait { reason message until }
  failure { code message hint stepKey }
  pipeline { key name }
  pack { id }
  caller { name subject }
}
"""

RUN = RUN_PARTS + "query CliRun($id: ID!) { run(id: $id) { ...RunParts } }"

RUN_DETAIL = (
    RUN_PARTS
    + _RUN_DETAIL
    + """
query CliRunDetail($id: ID!, $outputBytes: Int! = 65536) { run(id: $id) { ...RunParts ...RunDetail } }
"""
)

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

RUN_EVENTS = (
    RUN_PARTS
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
    ... on RunEventsEnd {
      cursor
      run { ...RunParts output(limitBytes: 1048576) { json text nextOffset sizeBytes } }
    }
  }
}
"""
)
