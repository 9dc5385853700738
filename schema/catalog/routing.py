"""Choosing what to run: the routing guide and routes."""

# mypy: disallow-untyped-decorators=False
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated

import strawberry

from catalog.metadata import kinds
from resolvers.catalog.guide import RoutingGuide as Guide
from resolvers.catalog.guide import place_of, routing_guide
from resolvers.catalog.routing import route_request
from resolvers.memory import my_defaults
from resolvers.records import PageWindow, PipelineRecord
from runner.packs.pack import Pack as InstalledPack
from schema.base.context import Info
from schema.base.directives import Cost, Requires, published
from schema.base.issues import Requirement
from schema.base.masking import PublicError
from schema.base.pagination import CursorKind
from schema.base.payloads import as_json
from schema.base.scalars import JSON, Cursor, JSONSchema
from schema.memory.memory import CallerDefaults
from schema.packs.packs import Pack
from schema.pipelines.pipelines import Pipeline
from store.states import Scope

if TYPE_CHECKING:
    from catalog.routing.gaps import GapWarning as Gap
    from catalog.routing.inputs import SuggestedInputs
    from resolvers.catalog.routing import Alternative, Recommendation, Routed

#: Pipelines first, then packs, each by id.
_GUIDE = CursorKind("guide", (int, str))
#: Entries of one page of the guide, at most and when nothing else is asked for.
GUIDE_PAGE = 500


@strawberry.type(description="A kind of thing packs take and make.")
class DataKind:
    name: str = strawberry.field(description="Name used in metadata.")
    description: str = strawberry.field(description="What it is.")


@strawberry.type(description="How to choose what to run.")
class RoutingGuide:
    policy: str = strawberry.field(description="Rules to choose by.")
    fetched_at: datetime = strawberry.field(description="When this was put together.")
    packs: list[Pack] = strawberry.field(description="Every pack, or those of this page.")
    pipelines: list[Pipeline] = strawberry.field(description="Every pipeline, or those of this page.")
    next_cursor: Cursor | None = strawberry.field(description="Where the next page begins; null on the last.")

    @classmethod
    def of(cls, guide: Guide, size: int) -> "RoutingGuide":
        page = guide.entries[:size]
        more = len(guide.entries) > size
        return cls(
            policy=guide.policy,
            fetched_at=guide.fetched_at,
            packs=[Pack.of(entry.ref) for entry in page if isinstance(entry.ref, InstalledPack)],
            pipelines=[Pipeline.of(entry.ref) for entry in page if isinstance(entry.ref, PipelineRecord)],
            next_cursor=Cursor(_GUIDE.encode(place_of(page[-1]))) if more else None,
        )

    @strawberry.field(description="The vocabulary of accepts and produces.")
    def kinds(self) -> list[DataKind]:
        return [DataKind(name=name, description=description) for name, description in kinds().items()]

    @strawberry.field(description="What you usually choose, learned from your successful runs.")
    async def defaults(self, info: Info) -> CallerDefaults:
        return CallerDefaults.of(info, await my_defaults(info.context.context))


@strawberry.enum(description="What a route can lead to.")
class RouteKind(Enum):
    PIPELINE = strawberry.enum_value("pipeline", description="A pipeline.")
    PACK = strawberry.enum_value("pack", description="A single pack.")
    NONE = strawberry.enum_value("none", description="Nothing fits.")


@strawberry.enum(description="Where a suggested input came from.")
class InputSource(Enum):
    REQUEST = strawberry.enum_value("request", description="The request's own words.")
    CONTEXT = strawberry.enum_value("context", description="What was said to be at hand.")
    DEFAULTS = strawberry.enum_value("defaults", description="What the caller usually chooses.")
    MODEL = strawberry.enum_value("model", description="The routing model, from the request or its context.")


@strawberry.type(description="Where a suggested input came from.")
class SuggestedInputSource:
    name: str = strawberry.field(description="The input.")
    source: InputSource = strawberry.field(description="Where its value came from.")


def _sources(inputs: "SuggestedInputs") -> list[SuggestedInputSource]:
    return [SuggestedInputSource(name=given.name, source=InputSource(given.source)) for given in inputs.inputs]


@strawberry.type(
    description="The best choice for a request. Every id exists and every suggested input is valid for it."
)
class RouteRecommendation:
    kind: RouteKind = strawberry.field(description="What sort of thing.")
    id: strawberry.ID | None = strawberry.field(description="Its id; null when the kind is NONE.")
    suggested_inputs: JSON = strawberry.field(
        description="Inputs filled in from the request, its context and the caller's defaults."
    )
    input_sources: list[SuggestedInputSource] = strawberry.field(description="Where each suggested input came from.")
    missing_inputs: list[str] = strawberry.field(description="Required inputs still to be asked for.")
    missing_requirements: list[Requirement] = strawberry.field(
        description="What it needs and cannot have here; empty when it can run."
    )
    why: str = strawberry.field(description="Why this one.")
    confidence: float = strawberry.field(
        description="How sure, 0 to 1, calibrated: of the answers told at 0.8, four in five are right."
    )

    @classmethod
    def of(cls, found: "Recommendation") -> "RouteRecommendation":
        return cls(
            kind=RouteKind(found.kind),
            id=None if found.id is None else strawberry.ID(found.id),
            suggested_inputs=JSON(found.inputs.values()),
            input_sources=_sources(found.inputs),
            missing_inputs=list(found.inputs.missing),
            missing_requirements=[Requirement.of(lack) for lack in found.lacks],
            why=found.why,
            confidence=found.confidence,
        )


@strawberry.type(description="Another choice for a request.")
class RouteAlternative:
    kind: RouteKind = strawberry.field(description="What sort of thing.")
    id: strawberry.ID = strawberry.field(description="Its id.")
    suggested_inputs: JSON = strawberry.field(
        description="Inputs filled in from the request, its context and the caller's defaults."
    )
    input_sources: list[SuggestedInputSource] = strawberry.field(description="Where each suggested input came from.")
    missing_inputs: list[str] = strawberry.field(description="Required inputs still to be asked for.")
    missing_requirements: list[Requirement] = strawberry.field(
        description="What it needs and cannot have here; empty when it can run."
    )
    why: str = strawberry.field(description="Why this one.")
    confidence: float = strawberry.field(description="How well it fits, 0 to 1.")

    @classmethod
    def of(cls, found: "Alternative") -> "RouteAlternative":
        return cls(
            kind=RouteKind(found.kind),
            id=strawberry.ID(found.id),
            suggested_inputs=JSON(found.inputs.values()),
            input_sources=_sources(found.inputs),
            missing_inputs=list(found.inputs.missing),
            missing_requirements=[Requirement.of(lack) for lack in found.lacks],
            why=found.why,
            confidence=found.confidence,
        )


@strawberry.type(description="A pack somebody could write.")
class ProposedPack:
    name: str = strawberry.field(description="Name, `area.verb`.")
    input_schema: JSONSchema = strawberry.field(description="What it would be given.")
    output_schema: JSONSchema = strawberry.field(description="What it would return.")
    integration_pattern: str = strawberry.field(description="How it would get at what it needs.")
    why_useful: str = strawberry.field(description="What it would make possible.")


@strawberry.type(description="A capability the catalog lacks.")
class GapWarning:
    missing_capability: str = strawberry.field(description="What cannot be done.")
    proposed_pack: ProposedPack = strawberry.field(description="A pack that would do it.")

    @classmethod
    def of(cls, gap: "Gap") -> "GapWarning":
        """A gap as it is shown."""
        pack = gap.proposed_pack
        return cls(
            missing_capability=gap.missing_capability,
            proposed_pack=ProposedPack(
                name=pack.name,
                input_schema=JSONSchema(pack.input_schema),
                output_schema=JSONSchema(pack.output_schema),
                integration_pattern=pack.integration_pattern,
                why_useful=pack.why_useful,
            ),
        )


@strawberry.type(description="What to run for a request.")
class RouteResult:
    recommendation: RouteRecommendation = strawberry.field(description="The best choice.")
    alternatives: list[RouteAlternative] = strawberry.field(description="Other choices, best first, at most 5.")
    gap_warning: GapWarning | None = strawberry.field(
        description="What is missing here to serve the request well; null when nothing is."
    )
    reasoning: str = strawberry.field(description="How the choice was made, for people.")
    decided_by: str = strawberry.field(description="`lexical`, or the model that chose.")

    @classmethod
    def of(cls, routed: "Routed") -> "RouteResult":
        return cls(
            recommendation=RouteRecommendation.of(routed.recommendation),
            alternatives=[RouteAlternative.of(other) for other in routed.alternatives],
            gap_warning=None if routed.gap is None else GapWarning.of(routed.gap),
            reasoning=routed.reasoning,
            decided_by=routed.decided_by,
        )


@strawberry.type
class RoutingQueries:
    @strawberry.field(
        description="Everything that can be run and how to choose among it. MCP resource `packline://routing-guide`.",
        directives=[Requires(scope=Scope.READ), Cost(weight=200), published(routing_guide)],
    )
    async def routing_guide(
        self,
        info: Info,
        first: Annotated[
            int | None, strawberry.argument(description="Entries of one page, at most and by default 500.")
        ] = None,
        after: Annotated[Cursor | None, strawberry.argument(description="The nextCursor of the page before.")] = None,
    ) -> RoutingGuide:
        size = GUIDE_PAGE if first is None else first
        if not 1 <= size <= GUIDE_PAGE:
            raise PublicError(f"first is {size}; use 1 to {GUIDE_PAGE}.", "INVALID")
        window = PageWindow(after=None if after is None else _GUIDE.decode(after), limit=size)
        return RoutingGuide.of(await routing_guide(info.context.context, window=window), size)

    @strawberry.field(
        description="What to run for a request, with inputs filled in. Never runs anything.",
        directives=[Requires(scope=Scope.READ), Cost(weight=200), published(route_request)],
    )
    async def route(
        self,
        info: Info,
        user_intent: Annotated[str, strawberry.argument(description="What is wanted, in the user's words.")],
        context: Annotated[
            JSON | None, strawberry.argument(description="What is at hand: text, addresses, files, constraints.")
        ] = None,
    ) -> RouteResult:
        routed = await route_request(info.context.context, user_intent=user_intent, at_hand=as_json(context))
        return RouteResult.of(routed)
