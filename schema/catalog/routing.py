"""Routing: recommendations of what to run, and the routing guide."""

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
#: Maximum and default number of entries on one page of the guide.
GUIDE_PAGE = 500


@strawberry.type(description="A kind of data that packs accept and produce.")
class DataKind:
    name: str = strawberry.field(description="Name used in `accepts` and `produces`.")
    description: str = strawberry.field(description="What it means.")


@strawberry.type(description="Everything needed to choose a pipeline or pack for a request.")
class RoutingGuide:
    policy: str = strawberry.field(description="Rules for choosing an entry, as text.")
    fetched_at: datetime = strawberry.field(description="When the guide was created.")
    packs: list[Pack] = strawberry.field(description="All packs, or those on this page.")
    pipelines: list[Pipeline] = strawberry.field(description="All pipelines, or those on this page.")
    next_cursor: Cursor | None = strawberry.field(description="Cursor of the next page. Null on the last page.")

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

    @strawberry.field(description="The kinds of data used in `accepts` and `produces`.")
    def kinds(self) -> list[DataKind]:
        return [DataKind(name=name, description=description) for name, description in kinds().items()]

    @strawberry.field(description="The caller's usual choices, learned from its successful runs.")
    async def defaults(self, info: Info) -> CallerDefaults:
        return CallerDefaults.of(info, await my_defaults(info.context.context))


@strawberry.enum(description="What a route recommends.")
class RouteKind(Enum):
    PIPELINE = strawberry.enum_value("pipeline", description="A pipeline.")
    PACK = strawberry.enum_value("pack", description="A single pack.")
    NONE = strawberry.enum_value("none", description="Nothing suitable was found.")


@strawberry.enum(description="Where the value of a suggested input comes from.")
class InputSource(Enum):
    REQUEST = strawberry.enum_value("request", description="The words of the request.")
    CONTEXT = strawberry.enum_value("context", description="The context passed with the request.")
    DEFAULTS = strawberry.enum_value("defaults", description="The caller's learned defaults.")
    MODEL = strawberry.enum_value("model", description="The routing model, from the request or its context.")


@strawberry.type(description="The source of a suggested input.")
class SuggestedInputSource:
    name: str = strawberry.field(description="Name of the input.")
    source: InputSource = strawberry.field(description="Where its value comes from.")


def _sources(inputs: "SuggestedInputs") -> list[SuggestedInputSource]:
    return [SuggestedInputSource(name=given.name, source=InputSource(given.source)) for given in inputs.inputs]


@strawberry.type(description="The best match for a request. The id exists and all suggested inputs are valid.")
class RouteRecommendation:
    kind: RouteKind = strawberry.field(description="What is recommended.")
    id: strawberry.ID | None = strawberry.field(description="Id of the pipeline or pack. Null if `kind` is NONE.")
    suggested_inputs: JSON = strawberry.field(
        description="Inputs taken from the request, its context and the caller's defaults."
    )
    input_sources: list[SuggestedInputSource] = strawberry.field(description="The source of each suggested input.")
    missing_inputs: list[str] = strawberry.field(description="Required inputs that are still missing.")
    missing_requirements: list[Requirement] = strawberry.field(
        description="Requirements that are not available on this server. Empty if it can run."
    )
    why: str = strawberry.field(description="Why this was chosen.")
    confidence: float = strawberry.field(
        description="Calibrated confidence, from 0 to 1: of all recommendations with 0.8, four out of five are right."
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


@strawberry.type(description="Another match for a request.")
class RouteAlternative:
    kind: RouteKind = strawberry.field(description="What is suggested.")
    id: strawberry.ID = strawberry.field(description="Id of the pipeline or pack.")
    suggested_inputs: JSON = strawberry.field(
        description="Inputs taken from the request, its context and the caller's defaults."
    )
    input_sources: list[SuggestedInputSource] = strawberry.field(description="The source of each suggested input.")
    missing_inputs: list[str] = strawberry.field(description="Required inputs that are still missing.")
    missing_requirements: list[Requirement] = strawberry.field(
        description="Requirements that are not available on this server. Empty if it can run."
    )
    why: str = strawberry.field(description="Why it is suggested.")
    confidence: float = strawberry.field(description="How well it matches, from 0 to 1.")

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


@strawberry.enum(description="What to do about a missing capability.")
class GapAction(Enum):
    PROPOSE_PACK = strawberry.enum_value("propose_pack", description="Write a pack: no pack does it.")
    DRAFT_PIPELINE = strawberry.enum_value(
        "draft_pipeline", description="Draft a pipeline: existing packs do it in a chain."
    )


@strawberry.type(description="A pack or pipeline that could be written to close a gap.")
class Proposal:
    action: GapAction = strawberry.field(description="What to do.")
    name: str = strawberry.field(description="Suggested name: `area.verb` of a pack, `some-words` of a pipeline.")
    summary: str = strawberry.field(description="What it would do.")
    packs: list[str] = strawberry.field(description="The packs a pipeline would run, in order. Empty for a pack.")
    input_schema: JSONSchema = strawberry.field(description="Schema of the inputs it would take.")
    output_schema: JSONSchema = strawberry.field(description="Schema of the output it would return.")
    integration_pattern: str = strawberry.field(description="How it would reach the service or data it needs.")
    why_useful: str = strawberry.field(description="Why it would be useful.")


@strawberry.type(description="A capability the catalog lacks.")
class GapWarning:
    missing_capability: str = strawberry.field(description="Name of what the catalog cannot do.")
    why_missing: str = strawberry.field(description="Why nothing in the catalog does it.")
    proposal: Proposal = strawberry.field(description="What would provide it.")

    @classmethod
    def of(cls, gap: "Gap") -> "GapWarning":
        proposal = gap.proposal
        return cls(
            missing_capability=gap.missing_capability,
            why_missing=gap.why_missing,
            proposal=Proposal(
                action=GapAction(proposal.action),
                name=proposal.name,
                summary=proposal.summary,
                packs=list(proposal.packs),
                input_schema=JSONSchema(proposal.input_schema),
                output_schema=JSONSchema(proposal.output_schema),
                integration_pattern=proposal.integration_pattern,
                why_useful=proposal.why_useful,
            ),
        )


@strawberry.input(description="A Proposal to save with a gap.")
class ProposalInput:
    action: GapAction = strawberry.field(description="What to do.")
    name: str = strawberry.field(description="Suggested name: `area.verb` of a pack, `some-words` of a pipeline.")
    summary: str = strawberry.field(description="What it would do.")
    packs: list[str] = strawberry.field(description="The packs a pipeline would run, in order. Empty for a pack.")
    input_schema: JSONSchema = strawberry.field(description="Schema of the inputs it would take.")
    output_schema: JSONSchema = strawberry.field(description="Schema of the output it would return.")
    integration_pattern: str = strawberry.field(description="How it would reach the service or data it needs.")
    why_useful: str = strawberry.field(description="Why it would be useful.")


@strawberry.input(description="A GapWarning to save.")
class GapWarningInput:
    missing_capability: str = strawberry.field(description="Name of what the catalog cannot do.")
    why_missing: str = strawberry.field(description="Why nothing in the catalog does it.")
    proposal: ProposalInput = strawberry.field(description="What would provide it.")


@strawberry.type(description="A recommendation of what to run for a request.")
class RouteResult:
    recommendation: RouteRecommendation = strawberry.field(description="The best match.")
    alternatives: list[RouteAlternative] = strawberry.field(
        description="Up to 5 other matches: first those for further parts of the request, then the next best."
    )
    gap_warnings: list[GapWarning] = strawberry.field(
        description="What the catalog lacks for this request, one for each missing capability. A recommendation can "
        "serve the rest of the request."
    )
    reasoning: str = strawberry.field(description="How the choice was made, for display.")
    decided_by: str = strawberry.field(description="What made the choice: `lexical`, or the name of a model.")

    @classmethod
    def of(cls, routed: "Routed") -> "RouteResult":
        return cls(
            recommendation=RouteRecommendation.of(routed.recommendation),
            alternatives=[RouteAlternative.of(other) for other in routed.alternatives],
            gap_warnings=[GapWarning.of(gap) for gap in routed.gaps],
            reasoning=routed.reasoning,
            decided_by=routed.decided_by,
        )


@strawberry.type
class RoutingQueries:
    @strawberry.field(
        description="All packs and pipelines, and how to choose between them. Also available as MCP resource "
        "`packline://routing-guide`.",
        directives=[Requires(scope=Scope.READ), Cost(weight=200), published(routing_guide)],
    )
    async def routing_guide(
        self,
        info: Info,
        first: Annotated[
            int | None, strawberry.argument(description="Entries per page, at most 500. Defaults to 500.")
        ] = None,
        after: Annotated[Cursor | None, strawberry.argument(description="`nextCursor` of the previous page.")] = None,
    ) -> RoutingGuide:
        size = GUIDE_PAGE if first is None else first
        if not 1 <= size <= GUIDE_PAGE:
            raise PublicError(f"first is {size}; use 1 to {GUIDE_PAGE}.", "INVALID")
        window = PageWindow(after=None if after is None else _GUIDE.decode(after), limit=size)
        return RoutingGuide.of(await routing_guide(info.context.context, window=window), size)

    @strawberry.field(
        description="Recommends what to run for a request and suggests inputs. Does not start anything.",
        directives=[Requires(scope=Scope.READ), Cost(weight=200), published(route_request)],
    )
    async def route(
        self,
        info: Info,
        user_intent: Annotated[str, strawberry.argument(description="What the user wants, in the user's words.")],
        context: Annotated[
            JSON | None, strawberry.argument(description="Available material: text, URLs, files, constraints.")
        ] = None,
    ) -> RouteResult:
        routed = await route_request(info.context.context, user_intent=user_intent, request_context=as_json(context))
        return RouteResult.of(routed)
