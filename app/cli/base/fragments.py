"""GraphQL fragments that several commands use.

Each document is a whole text with its fragments, so that a script can send the same text; a test validates each.
"""

from __future__ import annotations

FAILURE_PARTS = """
fragment FailureParts on Failure {
  code class message cause field hint remedy fixableBy retryable retryAfterSeconds safeToRepeat stepKey
}
"""

ARTIFACT_PARTS = """
fragment ArtifactParts on Artifact { id name mediaType sizeBytes digest status downloadUrl expiresAt }
"""

RUN_PARTS = (
    FAILURE_PARTS
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
  attempts { number state startedAt endedAt reuse { madeBy { runStep { run { id } } } } }
  milestones { at fraction message }
}
"""
)

ISSUE_PARTS = (
    "fragment IssueParts on Issue { path argument rule severity message hint hintParts { text closest operation } }\n"
)

REQUIREMENT_PARTS = (
    "fragment RequirementParts on Requirement { kind name steps message hint hintParts { text closest operation } }\n"
)

PROBLEM_PARTS = (
    ISSUE_PARTS
    + REQUIREMENT_PARTS
    + """
fragment ProblemParts on Problem {
  __typename message code hint hintParts { text closest operation } retryable
  ... on NotFoundProblem { ref suggestion }
  ... on ForbiddenProblem { requires operation }
  ... on InvalidProblem { summary issues { ...IssueParts } }
  ... on WrongStateProblem { wrongRun: run { id } }
  ... on UnavailableProblem { missing { ...RequirementParts } }
  ... on LimitedProblem { retryAfterSeconds }
}
"""
)
