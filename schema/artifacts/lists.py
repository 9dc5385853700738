"""Reads of artifacts: the filter, lists, and the text of one artifact."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated

import strawberry

from resolvers.artifacts.artifacts import (
    TEXT_BYTES,
    ArtifactQuery,
    artifact_text,
    artifacts_in,
    count_visible_artifacts,
    list_visible_artifacts,
)
from resolvers.records import ArtifactOrder, ArtifactRecord
from schema.artifacts.artifacts import Artifact
from schema.base.context import Info
from schema.base.directives import Cost, Requires, published
from schema.base.enums import described_enum
from schema.base.pagination import After, Before, Connection, CursorKind, First, Last, PageArguments, page_of
from schema.base.scalars import Long
from schema.base.text_parts import START, Offset, TextPart
from store.states import ArtifactStatus, Scope

described_enum(ArtifactOrder, "Sort order of artifacts.", {"NEWEST": "Newest first.", "LARGEST": "Largest first."})
ARTIFACTS = CursorKind("artifacts", (str,))
_BY_SIZE = CursorKind("artifacts by size", (int, str))

ArtifactConnection = Connection[Artifact]


@strawberry.type(description="Part of an artifact's text.")
class ArtifactText(TextPart):
    artifact: Artifact = strawberry.field(description="The artifact.")
    reason: str | None = strawberry.field(description="Why there is no text and what to do. Null if there is text.")


@strawberry.input(description="Filters for artifacts. All given fields must match; within a field, any value.")
class ArtifactFilter:
    text: str | None = strawberry.field(default=None, description="Words to search for in names.")
    media_types: list[str] | None = strawberry.field(
        default=None, description="Only these media types; `image/*` matches all images."
    )
    statuses: list[ArtifactStatus] | None = strawberry.field(
        default=None, description="Only artifacts with one of these statuses."
    )
    pipelines: list[strawberry.ID] | None = strawberry.field(
        default=None, description="Only artifacts from runs of these pipelines, by id, key or alias."
    )
    pinned: bool | None = strawberry.field(
        default=None, description="True: only pinned artifacts. False: only artifacts that are not pinned."
    )
    created_from: datetime | None = strawberry.field(
        default=None, description="Only artifacts created at or after this time."
    )
    created_before: datetime | None = strawberry.field(
        default=None, description="Only artifacts created before this time."
    )

    def query(self) -> ArtifactQuery:
        return ArtifactQuery(
            text=self.text,
            media_types=tuple(self.media_types) if self.media_types is not None else None,
            statuses=tuple(self.statuses) if self.statuses is not None else None,
            pipelines=None if self.pipelines is None else tuple(self.pipelines),
            pinned=self.pinned,
            created_from=self.created_from,
            created_before=self.created_before,
        )


async def artifact_page(
    info: Info,
    query: ArtifactQuery,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
    listed: Callable[..., Awaitable[list[ArtifactRecord]]] = artifacts_in,
    order: ArtifactOrder = ArtifactOrder.NEWEST,
) -> ArtifactConnection:
    """A page of the artifacts the caller may see.

    `listed` reads the rows. This function checks no scope, because a caller with only `RUN` may list the artifacts of
    its runs.
    """
    by_size = order is ArtifactOrder.LARGEST
    kind = _BY_SIZE if by_size else ARTIFACTS
    arguments = PageArguments.parse(kind, first=first, after=after, last=last, before=before)
    context = info.context.context
    rows = await listed(context, query=query, window=arguments.window, order=order)
    page = page_of(rows, arguments, lambda row: kind.encode((row.size_bytes, row.id) if by_size else (row.id,)))
    return ArtifactConnection.of(page, Artifact.of, lambda: count_visible_artifacts(context, query))


@strawberry.type
class ArtifactQueries:
    @strawberry.field(description="Artifacts, newest first.", directives=[Requires(scope=Scope.READ)])
    async def artifacts(
        self,
        info: Info,
        filter: Annotated[
            ArtifactFilter | None, strawberry.argument(description="Only artifacts that match the filter.")
        ] = None,
        order_by: Annotated[ArtifactOrder, strawberry.argument(description="The sort order.")] = ArtifactOrder.NEWEST,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ArtifactConnection:
        query = (filter or ArtifactFilter()).query()
        return await artifact_page(info, query, first, after, last, before, list_visible_artifacts, order_by)

    @strawberry.field(
        description="Reads part of an artifact's text. Also returns the artifact's download URL.",
        directives=[
            Requires(scope=Scope.READ),
            Cost(weight=10),
            published(artifact_text),
        ],
    )
    async def artifact_text(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact's id.")],
        offset: Offset = START,
        limit_bytes: Annotated[
            int, strawberry.argument(description=f"Maximum size of the part, in bytes; 1 to {TEXT_BYTES}.")
        ] = 20_000,
    ) -> ArtifactText | None:
        found = await artifact_text(info.context.context, id=id, offset=offset, limit_bytes=limit_bytes)
        if found is None:
            return None
        following = Long(found.next_offset) if found.next_offset is not None else None
        return ArtifactText(
            artifact=Artifact.of(found.artifact), text=found.text, next_offset=following, reason=found.reason
        )
