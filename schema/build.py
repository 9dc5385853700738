"""Builds the complete schema.

`python -m schema.build > schema/schema.graphql` writes the SDL for clients and code generators; a test checks that
it is current.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, cast

from schema.base.problems import refuse_command
from schema.guard.guarded_schema import GuardedSchema
from schema.mutation import Mutation
from schema.pipelines.agent_steps import AgentStep
from schema.pipelines.definitions import PackStep
from schema.query import Query
from schema.runs.events import ArtifactChanged, AttemptStateChanged, RunStateChanged, StepProgressed, StepStateChanged
from schema.subscription import Subscription

if TYPE_CHECKING:
    from schema.base.directives import RefuseCommand
    from schema.guard.limits import RequestLimits

#: Implementations of interfaces; no field returns them by name.
_MEMBERS = (
    PackStep,
    AgentStep,
    RunStateChanged,
    StepStateChanged,
    AttemptStateChanged,
    StepProgressed,
    ArtifactChanged,
)

#: Plural nouns of the item types of paged lists.
_PAGES_OF = {
    "ApiToken": "bearer tokens",
    "Artifact": "artifacts",
    "AuditEntry": "audit entries",
    "Caller": "callers",
    "CallerSpending": "callers and what they spent",
    "CatalogEntry": "catalog entries",
    "Credential": "credentials",
    "Firing": "firings",
    "GapProposal": "gap proposals",
    "LogLine": "log lines",
    "MemoryEntry": "memory entries",
    "Pipeline": "pipelines",
    "PipelineVersion": "versions",
    "Run": "runs",
    "RunEvent": "events",
    "TranscriptEntry": "transcript entries",
    "Trigger": "triggers",
}


def build_schema(limits: RequestLimits | None = None) -> GuardedSchema:
    """Build the public schema.

    Args:
        limits: Limits of one request; the defaults if None.
    """
    schema = GuardedSchema(
        Query,
        Mutation,
        Subscription,
        types=_MEMBERS,
        limits=limits,
        refuse_command=cast("RefuseCommand", refuse_command),
    )
    _describe_pages(schema)
    return schema


def _describe_pages(schema: GuardedSchema) -> None:
    """Set the descriptions of connections and edges by item type; the generic classes cannot."""
    for name, noun in _PAGES_OF.items():
        page = schema._schema.type_map[f"{name}Connection"]
        edge = schema._schema.type_map[f"{name}Edge"]
        page.description, edge.description = f"A page of {noun}.", f"An item on a page of {noun}."


def sdl() -> str:
    """Print the schema in GraphQL's schema definition language."""
    return build_schema().as_str() + "\n"


if __name__ == "__main__":
    sys.stdout.write(sdl())
