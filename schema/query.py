"""Everything that can be read."""

import strawberry

from schema.agent_clients import AgentClientQueries
from schema.agents import AgentQueries
from schema.artifact_lists import ArtifactQueries
from schema.audit import AuditQueries
from schema.callers import CallerQueries
from schema.catalog import CatalogQueries
from schema.credentials import CredentialQueries
from schema.gap_proposals import GapProposalQueries
from schema.mcp_servers import McpServerQueries
from schema.memory import MemoryQueries
from schema.models import ModelQueries
from schema.node import NodeQueries
from schema.packs import PackQueries
from schema.pipeline_lists import PipelineQueries
from schema.routing import RoutingQueries
from schema.run_lists import RunQueries
from schema.server import ServerQueries


# The fields appear in the opposite order of the bases.
@strawberry.type(description="Everything that can be read.")
class Query(
    AgentClientQueries,
    AgentQueries,
    AuditQueries,
    McpServerQueries,
    ModelQueries,
    ServerQueries,
    CredentialQueries,
    CallerQueries,
    MemoryQueries,
    ArtifactQueries,
    RunQueries,
    PackQueries,
    GapProposalQueries,
    RoutingQueries,
    CatalogQueries,
    PipelineQueries,
    NodeQueries,
):
    """The root of queries."""
