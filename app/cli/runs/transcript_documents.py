"""GraphQL documents of `packline transcript`."""

from __future__ import annotations

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
