"""The root type of mutations."""

import strawberry

from schema.access.callers import CallerMutations
from schema.access.credential_commands import CredentialMutations
from schema.artifacts.commands import ArtifactMutations
from schema.catalog.gaps import GapProposalMutations
from schema.memory.commands import MemoryMutations
from schema.packs.mcp_servers import McpServerMutations
from schema.pipelines.commands import PipelineMutations
from schema.runs.commands import RunMutations
from schema.server.server import ServerMutations
from schema.server.workers import WorkerMutations
from schema.triggers.commands import TriggerMutations
from schema.triggers.webhook_commands import WebhookMutations


# The SDL lists the fields in reverse order of the bases.
@strawberry.type(description="The root of all commands. Fields run in order, one at a time.")
class Mutation(
    ServerMutations,
    WorkerMutations,
    McpServerMutations,
    CredentialMutations,
    CallerMutations,
    GapProposalMutations,
    MemoryMutations,
    ArtifactMutations,
    TriggerMutations,
    WebhookMutations,
    RunMutations,
    PipelineMutations,
):
    pass
