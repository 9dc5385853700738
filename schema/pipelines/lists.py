"""Reads of pipelines: one by id or key, lists, and the check of an unsaved definition."""

# mypy: disallow-untyped-decorators=False
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.pipelines.definitions import check_pipeline
from resolvers.pipelines.lookups import PipelineQuery, count_some_pipelines, find_one_pipeline, list_some_pipelines
from resolvers.records import ListedPipeline, PipelineOrder
from schema.base.context import Info
from schema.base.cursors import by_instant
from schema.base.directives import Cost, Requires, published
from schema.base.enums import described_enum
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import JSON
from schema.pipelines.definitions import PipelineCheck, PipelineDefinitionInput
from schema.pipelines.pipelines import Pipeline
from store.states import Scope

if TYPE_CHECKING:
    from schema.base.pagination import CursorValue

described_enum(
    PipelineOrder,
    "Sort order of pipelines.",
    {
        "RECENTLY_CHANGED": "Most recently changed first.",
        "RECENTLY_RUN": "Most recently run first, counting only runs the caller may see.",
        "MOST_USED": "Most runs in the last 30 days first, counting only runs the caller may see.",
        "NAME": "By name.",
    },
)
_CURSORS = {
    PipelineOrder.RECENTLY_CHANGED: CursorKind("pipelines by change", (str, str)),
    PipelineOrder.RECENTLY_RUN: CursorKind("pipelines by latest run", (str, str)),
    PipelineOrder.MOST_USED: CursorKind("pipelines by use", (int, str)),
    PipelineOrder.NAME: CursorKind("pipelines by name", (str, str)),
}

PipelineConnection = Connection[Pipeline]


@strawberry.input(description="Filters for pipelines. All given fields must match.")
class PipelineFilter:
    text: str | None = strawberry.field(
        default=None, description="Words to search for in keys, names, descriptions and metadata."
    )
    builtin: bool | None = strawberry.field(default=None, description="True: only starters. False: no starters.")
    owner: strawberry.ID | None = strawberry.field(
        default=None, description="Only pipelines owned by the caller with this id."
    )
    usable: bool | None = strawberry.field(
        default=None, description="True: only pipelines that can run on this server. False: only those that cannot."
    )
    accepts: list[str] | None = strawberry.field(
        default=None, description="Only pipelines that accept one of these kinds of data."
    )
    produces: list[str] | None = strawberry.field(
        default=None, description="Only pipelines that produce one of these kinds of data."
    )

    def query(self) -> PipelineQuery:
        return PipelineQuery(
            text=self.text,
            builtin=self.builtin,
            owner=self.owner,
            usable=self.usable,
            accepts=None if self.accepts is None else tuple(self.accepts),
            produces=None if self.produces is None else tuple(self.produces),
        )


async def pipeline_page(
    info: Info,
    query: PipelineQuery,
    order: PipelineOrder,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
) -> PipelineConnection:
    kind = _CURSORS[order]
    arguments = PageArguments.parse(kind, first=first, after=after, last=last, before=before)
    context = info.context.context
    window = arguments.window
    if order is PipelineOrder.RECENTLY_CHANGED:
        window = replace(
            window, after=by_instant(window.after, "pipelines"), before=by_instant(window.before, "pipelines")
        )
    rows = await list_some_pipelines(context, query=query, order=order, window=window)
    page = page_of(rows, arguments, lambda row: kind.encode(_cursor_values(row)))
    return PipelineConnection.of(
        page, lambda row: Pipeline.of(row.pipeline), lambda: count_some_pipelines(context, query)
    )


def _cursor_values(row: ListedPipeline) -> "list[CursorValue]":
    return [value.astimezone(UTC).isoformat() if isinstance(value, datetime) else value for value in row.key]


@strawberry.type
class PipelineQueries:
    @strawberry.field(
        description="A pipeline with its inputs, steps and availability.",
        directives=[Requires(scope=Scope.READ), published(find_one_pipeline)],
    )
    async def pipeline(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The pipeline's id, key or alias.")],
    ) -> Pipeline | None:
        found = await find_one_pipeline(info.context.context, pipeline=id)
        return None if found is None else Pipeline.of(found)

    @strawberry.field(description="All pipelines, including starters.", directives=[Requires(scope=Scope.READ)])
    async def pipelines(
        self,
        info: Info,
        filter: Annotated[
            PipelineFilter | None, strawberry.argument(description="Only pipelines that match the filter.")
        ] = None,
        order_by: Annotated[
            PipelineOrder, strawberry.argument(description="The sort order.")
        ] = PipelineOrder.RECENTLY_CHANGED,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> PipelineConnection:
        query = (filter or PipelineFilter()).query()
        return await pipeline_page(info, query, order_by, first, after, last, before)

    @strawberry.field(
        description=(
            "Checks whether a definition is valid and could run on this server. Saves nothing, runs nothing "
            "and calls no model."
        ),
        directives=[Requires(scope=Scope.READ), Cost(weight=10), published(check_pipeline)],
    )
    async def check_pipeline(
        self,
        info: Info,
        definition: Annotated[PipelineDefinitionInput, strawberry.argument(description="The definition.")],
        inputs: Annotated[JSON | None, strawberry.argument(description="Run inputs to check against it.")] = None,
    ) -> PipelineCheck:
        context = info.context.context
        check = await check_pipeline(context, definition=definition.text(), inputs=inputs)  # type: ignore[arg-type] # JSON is a scalar of its own to the schema
        return PipelineCheck.of(check, context.services.now())
