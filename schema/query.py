"""The root type of queries."""

import strawberry

from schema.access.audit import AuditQueries
from schema.access.callers import CallerQueries
from schema.access.credentials import CredentialQueries
from schema.access.spending import SpendingQueries
from schema.artifacts.lists import ArtifactQueries
from schema.catalog.catalog import CatalogQueries
from schema.catalog.gaps import GapProposalQueries
from schema.catalog.routing import RoutingQueries
from schema.memory.memory import MemoryQueries
from schema.node import NodeQueries
from schema.packs.mcp_servers import McpServerQueries
from schema.packs.models import ModelQueries
from schema.packs.packs import PackQueries
from schema.pipelines.agent_steps import AgentQueries
from schema.pipelines.lists import PipelineQueries
from schema.pipelines.promotions import PromotionQueries
from schema.runs.lists import RunQueries
from schema.server.agent_clients import AgentClientQueries
from schema.server.server import ServerQueries
from schema.server.workers import WorkerQueries
from schema.triggers.schedules import ScheduleQueries
from schema.triggers.triggers import TriggerQueries


# The SDL lists the fields in reverse order of the bases.
@strawberry.type(description="The root of all reads.")
class Query(
    AgentClientQueries,
    AgentQueries,
    AuditQueries,
    McpServerQueries,
    ModelQueries,
    WorkerQueries,
    ServerQueries,
    CredentialQueries,
    SpendingQueries,
    CallerQueries,
    MemoryQueries,
    ArtifactQueries,
    PromotionQueries,
    ScheduleQueries,
    TriggerQueries,
    RunQueries,
    PackQueries,
    GapProposalQueries,
    RoutingQueries,
    CatalogQueries,
    PipelineQueries,
    NodeQueries,
):
    pass
