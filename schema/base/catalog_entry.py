"""The interface shared by packs and pipelines: metadata, inputs, availability and usage."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from typing import TYPE_CHECKING

import strawberry

from schema.base.issues import Availability
from schema.base.node_interface import Node
from schema.base.scalars import JSONSchema

if TYPE_CHECKING:
    from collections.abc import Collection

    from resolvers.records import Usage
    from runner.packs.metadata import Metadata as WrittenMetadata

_CAMEL = {
    "intent_keywords": "intentKeywords",
    "example_intents": "exampleIntents",
    "typical_use": "typicalUse",
}


@strawberry.type(
    description=("What an entry is for. Packline derives `accepts` and `produces` if the author leaves them out.")
)
class Metadata:
    accepts: list[str] = strawberry.field(description="Kinds of data the entry accepts.")
    produces: list[str] = strawberry.field(description="Kinds of data the entry produces.")
    intent_keywords: list[str] = strawberry.field(description="Short phrases that requests are matched against.")
    example_intents: list[str] = strawberry.field(description="Example requests, in users' words.")
    typical_use: str | None = strawberry.field(description="When to use the entry, in one sentence.")
    limitations: list[str] = strawberry.field(description="What the entry cannot do.")
    supersedes: list[strawberry.ID] = strawberry.field(
        description="Ids of the packs that a pipeline replaces. Empty for packs."
    )
    practice: bool = strawberry.field(
        description="Whether the entry exists only for practice or demonstration. Routing and search return "
        "it only for requests that name it."
    )
    derived: list[str] = strawberry.field(
        description="Names of the fields that Packline derived because the author left them out."
    )

    @classmethod
    def of(cls, metadata: "WrittenMetadata", derived: "Collection[str]" = ()) -> "Metadata":
        return cls(
            accepts=metadata.accepts,
            produces=metadata.produces,
            intent_keywords=metadata.intent_keywords,
            example_intents=metadata.example_intents,
            typical_use=metadata.typical_use,
            limitations=metadata.limitations,
            supersedes=[strawberry.ID(name) for name in metadata.supersedes],
            practice=metadata.practice,
            derived=[_CAMEL.get(name, name) for name in derived],
        )


@strawberry.type(description="Usage statistics of a pack or pipeline.")
class UsageStats:
    runs: int = strawberry.field(description="Number of runs or pack calls.")
    failed: int = strawberry.field(description="Number of these that failed.")
    median_duration_seconds: float | None = strawberry.field(
        description="Median duration of its attempts, in seconds, without the waits between them. Null if it has never "
        "succeeded."
    )
    median_cost_usd: float | None = strawberry.field(description="Median cost in US dollars. Null if unknown.")
    last_run_at: datetime | None = strawberry.field(description="When it last ran. Null if never.")

    @classmethod
    def of(cls, usage: "Usage") -> "UsageStats":
        return cls(
            runs=usage.runs,
            failed=usage.failed,
            median_duration_seconds=usage.median_duration_seconds,
            median_cost_usd=usage.median_cost_usd,
            last_run_at=usage.last_run_at,
        )


@strawberry.interface(description="Something a caller can run by name: a Pack or a Pipeline.")
class CatalogEntry(Node):
    name: str = strawberry.field(description="The name: `area.verb` for a pack, a title for a pipeline.")
    description: str = strawberry.field(description="What it does, as Markdown.")

    @strawberry.field(description="What it is for; routing and search read this.")
    def metadata(self) -> Metadata:
        raise NotImplementedError

    @strawberry.field(description="JSON Schema of the inputs.")
    def input_schema(self) -> JSONSchema:
        raise NotImplementedError

    @strawberry.field(description="Whether it can run on this server, and what is missing if it cannot.")
    def availability(self) -> Availability:
        raise NotImplementedError

    @strawberry.field(description="Usage of the last 30 days, counting only runs the caller may see.")
    def usage(self) -> UsageStats:
        raise NotImplementedError
