"""GraphQL documents of the commands about triggers."""

from __future__ import annotations

from app.cli.base.fragments import ISSUE_PARTS, PROBLEM_PARTS

_TRIGGER = """
fragment TriggerParts on Trigger {
  id name kind version enabled attention nextAt lastAt inputs
  pipeline { id key }
  owner { id subject }
  schedule { cron intervalSeconds timeZone overlap catchUp catchUpLimit }
  webhook { url preset events previousSecretUntil }
  runEnded { states runsOf pipelines { key } }
}
"""

TRIGGERS = (
    _TRIGGER
    + """
query CliTriggers($pipeline: ID, $attention: Boolean, $first: Int, $after: Cursor) {
  triggers(pipeline: $pipeline, needsAttention: $attention, first: $first, after: $after) {
    nodes { ...TriggerParts }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

TRIGGER = (
    _TRIGGER
    + """
query CliTrigger($id: ID!) { trigger(id: $id) { ...TriggerParts nextFirings } }
"""
)

PREVIEW_SCHEDULE = (
    ISSUE_PARTS
    + """
query CliPreviewSchedule($schedule: ScheduleInput!, $count: Int!) {
  previewSchedule(schedule: $schedule, count: $count) { nextFirings issues { ...IssueParts } }
}
"""
)

FIRINGS = """
query CliFirings($id: ID!, $first: Int, $after: Cursor) {
  trigger(id: $id) {
    firings(first: $first, after: $after) {
      nodes { id scheduledAt outcome reason createdAt run { id state } endedRun { id } delivery { deliveryId event } }
      pageInfo { hasNextPage endCursor }
    }
  }
}
"""

CREATE_TRIGGER = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliCreateTrigger($pipeline: ID!, $name: String!, $schedule: ScheduleInput, $runEnded: RunEndedInput,
    $inputs: JSON, $version: Int, $enabled: Boolean!) {
  result: createTrigger(pipeline: $pipeline, name: $name, schedule: $schedule, runEnded: $runEnded, inputs: $inputs,
      version: $version, enabled: $enabled) {
    __typename
    ... on TriggerSuccess { trigger { ...TriggerParts nextFirings } }
    ...ProblemParts
  }
}
"""
)

UPDATE_TRIGGER = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliUpdateTrigger($id: ID!, $name: String, $pipeline: ID, $schedule: ScheduleInput,
    $runEnded: RunEndedInput, $inputs: JSON, $version: Int) {
  result: updateTrigger(id: $id, name: $name, pipeline: $pipeline, schedule: $schedule, runEnded: $runEnded,
      inputs: $inputs, version: $version) {
    __typename
    ... on TriggerSuccess { trigger { ...TriggerParts nextFirings } }
    ...ProblemParts
  }
}
"""
)

CREATE_WEBHOOK = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliCreateWebhook($pipeline: ID!, $name: String!, $preset: WebhookPreset!, $events: [String!], $inputs: JSON,
    $secret: String, $version: Int, $enabled: Boolean!) {
  result: createWebhook(pipeline: $pipeline, name: $name, preset: $preset, events: $events, inputs: $inputs,
      secret: $secret, version: $version, enabled: $enabled) {
    __typename
    ... on WebhookSecretSuccess { secret trigger { ...TriggerParts } }
    ...ProblemParts
  }
}
"""
)

UPDATE_WEBHOOK = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliUpdateWebhook($id: ID!, $events: [String!]!) {
  result: updateWebhook(id: $id, events: $events) {
    __typename
    ... on TriggerSuccess { trigger { ...TriggerParts } }
    ...ProblemParts
  }
}
"""
)

ROTATE_WEBHOOK_SECRET = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliRotateWebhookSecret($id: ID!, $secret: String, $overlapSeconds: Int! = 86400) {
  result: rotateWebhookSecret(id: $id, secret: $secret, overlapSeconds: $overlapSeconds) {
    __typename
    ... on WebhookSecretSuccess { secret trigger { ...TriggerParts } }
    ...ProblemParts
  }
}
"""
)

REPLAY_FIRING = (
    PROBLEM_PARTS
    + """
mutation CliReplayFiring($id: ID!) {
  result: replayFiring(id: $id) {
    __typename
    ... on FireTriggerSuccess { run { id title state } }
    ...ProblemParts
  }
}
"""
)

PAUSE_TRIGGER = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliPauseTrigger($id: ID!) {
  result: pauseTrigger(id: $id) {
    __typename
    ... on TriggerSuccess { trigger { ...TriggerParts } }
    ...ProblemParts
  }
}
"""
)

RESUME_TRIGGER = (
    _TRIGGER
    + PROBLEM_PARTS
    + """
mutation CliResumeTrigger($id: ID!) {
  result: resumeTrigger(id: $id) {
    __typename
    ... on TriggerSuccess { trigger { ...TriggerParts } }
    ...ProblemParts
  }
}
"""
)

FIRE_TRIGGER = (
    PROBLEM_PARTS
    + """
mutation CliFireTrigger($id: ID!) {
  result: fireTrigger(id: $id) {
    __typename
    ... on FireTriggerSuccess { run { id title state } }
    ...ProblemParts
  }
}
"""
)

DELETE_TRIGGER = (
    PROBLEM_PARTS
    + """
mutation CliDeleteTrigger($id: ID!) {
  result: deleteTrigger(id: $id) {
    __typename
    ... on DeleteSuccess { deletedId }
    ...ProblemParts
  }
}
"""
)
