"""What packs and pipelines have in common: what they are for, what they need, how they fared."""

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
    description=(
        "What an entry is for. Complete for everything that ships; accepts and produces are derived where a user left "
        "them out."
    )
)
class Metadata:
    accepts: list[str] = strawberry.field(description="Kinds of thing it takes.")
    produces: list[str] = strawberry.field(description="Kinds of thing it makes.")
    intent_keywords: list[str] = strawberry.field(description="Short phrases a request is matched against.")
    example_intents: list[str] = strawberry.field(description="Requests it serves, as people would put them.")
    typical_use: str | None = strawberry.field(description="Use this when, one sentence.")
    limitations: list[str] = strawberry.field(description="What it cannot do.")
    supersedes: list[strawberry.ID] = strawberry.field(description="Packs a pipeline replaces; empty for packs.")
    practice: bool = strawberry.field(
        description="It exists to practise or demonstrate; routing and search offer it only to who asks for it by name."
    )
    derived: list[str] = strawberry.field(description="Names of the fields that were derived rather than written.")

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


@strawberry.type(description="How often and how well something ran.")
class UsageStats:
    runs: int = strawberry.field(description="Runs or calls.")
    failed: int = strawberry.field(description="Of these, failed.")
    median_duration_seconds: float | None = strawberry.field(
        description="Median duration in seconds; null when never run."
    )
    median_cost_usd: float | None = strawberry.field(description="Median cost in US dollars; null when unknown.")
    last_run_at: datetime | None = strawberry.field(description="When it was last run.")

    @classmethod
    def of(cls, usage: "Usage") -> "UsageStats":
        return cls(
            runs=usage.runs,
            failed=usage.failed,
            median_duration_seconds=usage.median_duration_seconds,
            median_cost_usd=usage.median_cost_usd,
            last_run_at=usage.last_run_at,
        )


@strawberry.interface(description="Something that can be run by name: a Pack or a Pipeline.")
class CatalogEntry(Node):
    name: str = strawberry.field(description="Name: `area.verb` for a pack, a title for a pipeline.")
    description: str = strawberry.field(description="What it does, Markdown.")

    @strawberry.field(description="What it is for, as routing sees it.")
    def metadata(self) -> Metadata:
        raise NotImplementedError

    @strawberry.field(description="What it must be given.")
    def input_schema(self) -> JSONSchema:
        raise NotImplementedError

    @strawberry.field(description="Whether it can run here, and if not, why not.")
    def availability(self) -> Availability:
        raise NotImplementedError

    @strawberry.field(description="How it fared here in the last 30 days, in the runs that the caller may see.")
    def usage(self) -> UsageStats:
        raise NotImplementedError
