"""GraphQL documents of the commands about credentials."""

from __future__ import annotations

from app.cli.base.fragments import PROBLEM_PARTS

_CREDENTIAL = """
fragment CredentialParts on Credential {
  id key kind description fieldsSet fingerprint readable createdAt updatedAt expiresAt lastUsedAt
  grants { __typename id ... on Pipeline { key } ... on Caller { subject } }
  lastTest { at accepted message }
}
"""

CREDENTIALS = (
    _CREDENTIAL
    + """
query CliCredentials($first: Int, $after: Cursor) {
  credentials(first: $first, after: $after) {
    nodes { ...CredentialParts }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

SET_CREDENTIAL = (
    _CREDENTIAL
    + PROBLEM_PARTS
    + """
mutation CliSetCredential(
  $key: Key!, $kind: String!, $description: String, $fields: JSON, $grants: [ID!], $addGrants: [ID!],
  $removeGrants: [ID!], $expiresAt: DateTime
) {
  result: setCredential(
    key: $key, kind: $kind, description: $description, fields: $fields, grants: $grants, addGrants: $addGrants,
    removeGrants: $removeGrants, expiresAt: $expiresAt
  ) {
    __typename
    ... on CredentialSuccess { credential { ...CredentialParts } }
    ...ProblemParts
  }
}
"""
)

TEST_CREDENTIAL = (
    _CREDENTIAL
    + PROBLEM_PARTS
    + """
mutation CliTestCredential($id: ID!) {
  result: testCredential(id: $id) {
    __typename
    ... on CredentialSuccess { credential { ...CredentialParts } }
    ...ProblemParts
  }
}
"""
)

DELETE_CREDENTIAL = (
    PROBLEM_PARTS
    + """
mutation CliDeleteCredential($id: ID!) {
  result: deleteCredential(id: $id) {
    __typename
    ... on DeleteSuccess { deletedId }
    ...ProblemParts
  }
}
"""
)

NODES = "query CliNodes($ids: [ID!]!) { nodes(ids: $ids) { id } }"
