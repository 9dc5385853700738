"""GraphQL documents of `packline memory` and `packline promote`."""

from __future__ import annotations

from app.cli.base.fragments import PROBLEM_PARTS

_DEFAULTS = """
fragment EntryParts on EntryDefaults {
  target uses lastUsedAt entry { name }
  values { field value count share lastUsedAt source pinned excluded others }
}
fragment DefaultParts on CallerDefaults {
  learningPaused locked unreadable caller { subject } packs { ...EntryParts } pipelines { ...EntryParts }
}
"""

DEFAULTS = (
    _DEFAULTS
    + """
query CliDefaults($caller: ID, $target: ID) {
  myDefaults(caller: $caller, target: $target) { ...DefaultParts }
}
"""
)

ENTRIES = """
query CliMemory($caller: ID, $scope: MemoryScope!, $first: Int, $after: Cursor) {
  memoryEntries(caller: $caller, scope: $scope, first: $first, after: $after) {
    nodes {
      id at target outcome failureCode durationSeconds readable isStep expiresAt
      learned { field value } run { id } entry { name }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""

FORGET = (
    PROBLEM_PARTS
    + """
mutation CliForget($scope: MemoryScope!, $caller: ID, $dryRun: Boolean!) {
  result: forgetMemory(scope: $scope, caller: $caller, dryRun: $dryRun) {
    __typename
    ... on ForgetMemorySuccess { scope rows }
    ...ProblemParts
  }
}
"""
)

SET_DEFAULT = (
    PROBLEM_PARTS
    + _DEFAULTS
    + """
mutation CliSetDefault($target: ID!, $field: LearnedField!, $rule: DefaultRule!, $value: String, $caller: ID) {
  result: setDefault(target: $target, field: $field, rule: $rule, value: $value, caller: $caller) {
    __typename
    ... on DefaultsSuccess { defaults { ...DefaultParts } }
    ...ProblemParts
  }
}
"""
)

SET_LEARNING = (
    PROBLEM_PARTS
    + """
mutation CliSetLearning($paused: Boolean!, $caller: ID) {
  result: setLearning(paused: $paused, caller: $caller) {
    __typename
    ... on DefaultsSuccess { defaults { learningPaused } }
    ...ProblemParts
  }
}
"""
)

PROMOTE = (
    PROBLEM_PARTS
    + """
query CliPromote($id: ID!, $include: [ID!], $name: String) {
  result: promoteRun(id: $id, include: $include, name: $name) {
    __typename
    ... on PromoteRunSuccess {
      yaml document madeFrom { id title } check { valid issues { ...IssueParts } }
    }
    ...ProblemParts
  }
}
"""
)
