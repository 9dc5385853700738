"""GraphQL documents of the commands about tokens."""

from __future__ import annotations

from app.cli.base.fragments import PROBLEM_PARTS

_TOKEN = """
fragment TokenParts on ApiToken {
  id name beginning scopes createdAt expiresAt lastUsedAt revokedAt
  caller { id name subject }
  madeBy { id name subject }
}
"""

CREATE_TOKEN = (
    _TOKEN
    + PROBLEM_PARTS
    + """
mutation CliCreateToken($name: String!, $scopes: [Scope!]!, $subject: String, $expiresAt: DateTime) {
  result: createToken(name: $name, scopes: $scopes, subject: $subject, expiresAt: $expiresAt) {
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
