"""GraphQL documents of the commands about pipelines and the catalog."""

from __future__ import annotations

from app.cli.base.fragments import ISSUE_PARTS, PROBLEM_PARTS, REQUIREMENT_PARTS

CATALOG = (
    REQUIREMENT_PARTS
    + """
query CliCatalog($filter: CatalogFilter, $first: Int, $after: Cursor) {
  catalog(filter: $filter, first: $first, after: $after) {
    nodes {
      __typename id name description
      metadata { accepts produces typicalUse practice }
      availability { usable missing { ...RequirementParts } }
      ... on Pack { version effects source { kind location } }
      ... on Pipeline { key builtin }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
)

LOAD_ERRORS = "query CliLoadErrors { server { packSources { loadErrors { origin message } } } }"

PIPELINES = (
    REQUIREMENT_PARTS
    + """
query CliPipelines($filter: PipelineFilter, $orderBy: PipelineOrder!, $first: Int, $after: Cursor) {
  pipelines(filter: $filter, orderBy: $orderBy, first: $first, after: $after) {
    nodes {
      id key name description builtin updatedAt
      metadata { practice }
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

CHECK = (
    ISSUE_PARTS
    + REQUIREMENT_PARTS
    + """
query CliCheck($definition: PipelineDefinitionInput!) {
  checkPipeline(definition: $definition) {
    valid inputSchema
    issues { ...IssueParts }
    preflight { missing { ...RequirementParts } }
  }
}
"""
)

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
