"""GraphQL documents of the commands about artifacts."""

from __future__ import annotations

from app.cli.base.fragments import ARTIFACT_PARTS, PROBLEM_PARTS

_FILE = (
    ARTIFACT_PARTS
    + """
fragment FileParts on Artifact { ...ArtifactParts createdAt pinned run { id title } }
"""
)

ARTIFACTS = (
    _FILE
    + """
query CliArtifacts($filter: ArtifactFilter, $orderBy: ArtifactOrder!, $first: Int, $after: Cursor) {
  artifacts(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    nodes { ...FileParts }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

ARTIFACT = (
    _FILE
    + """
query CliArtifact($id: ID!) { node(id: $id) { ... on Artifact { ...FileParts } } }
"""
)

ARTIFACT_TEXT = (
    _FILE
    + """
query CliArtifactText($id: ID!, $offset: Long!, $limit: Int!) {
  result: artifactText(id: $id, offset: $offset, limitBytes: $limit) { artifact { ...FileParts } text nextOffset }
}
"""
)

PIN_ARTIFACT = (
    _FILE
    + PROBLEM_PARTS
    + """
mutation CliPinArtifact($id: ID!, $pinned: Boolean!) {
  result: pinArtifact(id: $id, pinned: $pinned) {
    __typename
    ... on ArtifactSuccess { artifact { ...FileParts } }
    ...ProblemParts
  }
}
"""
)

RELEASE_ARTIFACT = (
    _FILE
    + PROBLEM_PARTS
    + """
mutation CliReleaseArtifact($id: ID!) {
  result: releaseArtifact(id: $id) {
    __typename
    ... on ArtifactSuccess { artifact { ...FileParts } }
    ...ProblemParts
  }
}
"""
)
