"""Everything that can be changed."""

import strawberry

from schema.artifact_commands import ArtifactMutations
from schema.callers import CallerMutations
from schema.credential_commands import CredentialMutations
from schema.gap_proposals import GapProposalMutations
from schema.mcp_servers import McpServerMutations
from schema.memory_commands import MemoryMutations
from schema.pipeline_commands import PipelineMutations
from schema.promotions import PromotionMutations
from schema.run_commands import RunMutations


# The fields appear in the opposite order of the bases.
@strawberry.type(description="Everything that can be changed. Fields run one after the other.")
class Mutation(
    McpServerMutations,
    CredentialMutations,
    CallerMutations,
    GapProposalMutations,
    MemoryMutations,
    PromotionMutations,
    ArtifactMutations,
    RunMutations,
    PipelineMutations,
):
    """The root of commands."""
