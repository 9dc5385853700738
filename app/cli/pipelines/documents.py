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

PACK = (
    REQUIREMENT_PARTS
    + """
query CliPack($id: ID!) {
  pack(id: $id) {
    id name description version installedVersions effects inputSchema outputSchema
    metadata { accepts produces typicalUse practice }
    availability { usable missing { ...RequirementParts } }
    source { kind location }
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
query CliExport($id: ID!) { pipeline(id: $id) { key exportYaml } }
"""

EXPORT_ALL = """
query CliExportAll($first: Int, $after: Cursor) {
  pipelines(filter: {builtin: false}, orderBy: NAME, first: $first, after: $after) {
    nodes { key exportYaml }
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
    ... on ApplyPipelinesSuccess {
      changes { key action diff triggers { name action triggerId secret } warnings { ...IssueParts } }
    }
    ...ProblemParts
  }
}
"""
)

VERSIONS = """
query CliVersions($id: ID!, $first: Int, $after: Cursor) {
  pipeline(id: $id) {
    currentVersion { number }
    versions(first: $first, after: $after) {
      nodes { id number createdAt note digest createdBy { name subject } }
      pageInfo { hasNextPage endCursor }
    }
  }
}
"""

TWO_VERSIONS = """
query CliTwoVersions($id: ID!, $one: Int!, $other: Int! = 0) {
  pipeline(id: $id) {
    key
    one: versionByNumber(number: $one) { number yaml }
    other: versionByNumber(number: $other) { number yaml }
    currentVersion { number yaml }
  }
}
"""

RESTORE_VERSION = (
    PROBLEM_PARTS
    + """
mutation CliRestoreVersion($pipeline: ID!, $yaml: String!, $ifVersion: Int!, $note: String!) {
  result: updatePipeline(pipeline: $pipeline, change: {yaml: $yaml}, ifVersion: $ifVersion, note: $note) {
    __typename
    ... on PipelineSuccess {
      pipeline { id key currentVersion { number } } newVersion warnings { ...IssueParts }
    }
    ...ProblemParts
  }
}
"""
)

PIPELINE_KEY = "query CliPipelineKey($id: ID!) { pipeline(id: $id) { id key name } }"

DELETE_PIPELINE = (
    PROBLEM_PARTS
    + """
mutation CliDeletePipeline($pipeline: ID!, $key: Key!) {
  result: deletePipeline(pipeline: $pipeline, confirmKey: $key) {
    __typename
    ... on DeleteSuccess { deletedId }
    ...ProblemParts
  }
}
"""
)
