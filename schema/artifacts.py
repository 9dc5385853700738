"""Artifacts: what steps produced."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.artifacts import (
    ArtifactQuery,
    artifact_text,
    artifacts_in,
    count_visible_artifacts,
    download_address,
    get_artifact,
    list_visible_artifacts,
    pin,
    preview_address,
    release,
    text_preview,
)
from schema.context import Info
from schema.directives import Cost, Requires, published
from schema.enums import described_enum
from schema.node_interface import Node
from schema.pagination import After, Before, CountedConnection, CursorKind, First, Last, PageArguments, page_of
from schema.problems import ConflictProblem, ForbiddenProblem, NotFoundProblem, refusable
from schema.scalars import Long
from store.artifacts import ArtifactRecord
from store.previews import PreviewKind
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from schema.attempts import Attempt
    from schema.runs import Run
    from schema.steps import RunStep
    from store.previews import PreviewRecord

described_enum(
    ArtifactStatus,
    "What an artifact is worth.",
    {
        "STORED": "Uploaded, or made by a pack whose post-conditions held.",
        "PROPOSED": "Made by an agent; nothing has vouched for it.",
        "VERIFIED": "Made by an agent; a later deterministic step read it and succeeded.",
        "QUARANTINED": "Holds a known secret; not handed out.",
    },
)

described_enum(
    PreviewKind,
    "What there is to see of an artifact at a glance.",
    {
        "PAGE": "The first page of a document, as a picture.",
        "PICTURE": "The picture itself, smaller.",
        "FRAME": "A frame of a video, as a picture.",
        "WAVEFORM": "How loud a sound is over its length, in `waveform`.",
        "TEXT": "The beginning of its text, in `preview`.",
        "NONE": "Nothing: `previewProblem` says why.",
    },
)

ARTIFACTS = CursorKind("artifacts", (str,))


@strawberry.type(description="A file the server keeps, addressed by content.")
class Artifact(Node):
    """Make one with `of`."""

    name: str = strawberry.field(description="File name.")
    media_type: str = strawberry.field(description="Media type.")
    size_bytes: Long = strawberry.field(description="How large.")
    digest: str = strawberry.field(description="SHA-256 of the content.")
    status: ArtifactStatus = strawberry.field(description="What it is worth.")
    created_at: datetime = strawberry.field(description="When it was stored.")
    expires_at: datetime | None = strawberry.field(
        description="When it will be erased; null while its run goes on and when pinned."
    )
    pinned: bool = strawberry.field(description="Whether it is kept for good.")
    record: strawberry.Private[ArtifactRecord]

    @classmethod
    def of(cls, record: ArtifactRecord) -> "Artifact":
        """The artifact of a row."""
        return cls(
            id=strawberry.ID(record.id),
            name=record.name,
            media_type=record.media_type,
            size_bytes=Long(record.size_bytes),
            digest=record.digest,
            status=ArtifactStatus(record.status),
            created_at=record.created_at,
            expires_at=None if record.pinned else record.expires_at,
            pinned=record.pinned,
            record=record,
        )

    @strawberry.field(description="The run it came from; null for an upload.")
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs")] | None':
        """Its run, while it is kept."""
        from schema.runs import load_run

        return None if self.record.run_id is None else await load_run(info, self.record.run_id)

    @strawberry.field(description="The step whose success verified it.")
    async def verified_by(self, info: Info) -> 'Annotated[RunStep, strawberry.lazy("schema.steps")] | None':
        """The step that read it and succeeded."""
        from schema.steps import load_step

        return None if self.record.verified_by is None else await load_step(info, self.record.verified_by)

    @strawberry.field(description="The attempt that produced it; null for an upload.")
    async def produced_by(self, info: Info) -> 'Annotated[Attempt, strawberry.lazy("schema.attempts")] | None':
        """Its attempt, while it is kept."""
        from schema.attempts import Attempt

        if self.record.attempt_id is None:
            return None
        found = await info.context.loaders.attempt.load(self.record.attempt_id)
        return None if found is None else Attempt.of(found)

    @strawberry.field(
        description=("Where to download it, with ranges; valid for some minutes; null once erased or in quarantine.")
    )
    def download_url(self, info: Info) -> str | None:
        """A signed path on this server."""
        return download_address(info.context.context, self.record)

    @strawberry.field(
        description=(
            "Where a small picture of it can be had, as WebP; valid for some minutes. Null when it has none, once "
            "erased and in quarantine. The picture is made at the first request, which may find that there is none "
            "after all."
        )
    )
    async def preview_url(self, info: Info) -> str | None:
        """A signed path on this server; looks at nothing but what is known."""
        known = await info.context.loaders.known_preview.load(self.record)
        return preview_address(info.context.context, self.record, known)

    @strawberry.field(
        description=(
            "What there is to see at a glance. This and the fields that describe the content are found out when first "
            "asked for; null while that is not done: ask again."
        ),
        directives=[Cost(weight=2)],
    )
    async def preview_kind(self, info: Info) -> PreviewKind | None:
        """The kind."""
        found = await self._preview(info)
        return None if found is None else found.kind

    @strawberry.field(description="Why there is nothing to see; null when there is, or it is not known yet.")
    async def preview_problem(self, info: Info) -> str | None:
        """The reason."""
        found = await self._preview(info)
        return None if found is None else found.reason

    @strawberry.field(description="Pages of a PDF, slides of a presentation; null for everything else.")
    async def page_count(self, info: Info) -> int | None:
        """How many."""
        found = await self._preview(info)
        return None if found is None else found.pages

    @strawberry.field(description="Width of a picture or video, in pixels.")
    async def width(self, info: Info) -> int | None:
        """As it is shown."""
        found = await self._preview(info)
        return None if found is None else found.width

    @strawberry.field(description="Height of a picture or video, in pixels.")
    async def height(self, info: Info) -> int | None:
        """As it is shown."""
        found = await self._preview(info)
        return None if found is None else found.height

    @strawberry.field(description="How long a sound or video lasts.")
    async def duration_seconds(self, info: Info) -> float | None:
        """Its length."""
        found = await self._preview(info)
        return None if found is None else found.duration_seconds

    @strawberry.field(
        description=(
            "Loudest moment of each of equally long stretches of a sound, in order, from 0 (silent) to 1; at most 240."
        ),
        directives=[Cost(weight=5)],
    )
    async def waveform(self, info: Info) -> list[float] | None:
        """The peaks."""
        found = await self._preview(info)
        return None if found is None or found.peaks is None else list(found.peaks)

    @strawberry.field(
        description="The beginning as text, of Office documents too; null when it is no text.",
        directives=[Cost(weight=5)],
    )
    async def preview(
        self,
        info: Info,
        limit: Annotated[int, strawberry.argument(description="How many characters at most, up to 10000.")] = 2000,
    ) -> str | None:
        """Secrets masked."""
        return await text_preview(info.context.context, self.record, limit, lambda: self._preview(info))

    async def _preview(self, info: Info) -> "PreviewRecord | None":
        found: PreviewRecord | None = await info.context.loaders.preview.load(self.record)
        return found


ArtifactConnection = CountedConnection[Artifact]


@strawberry.type(description="A stretch of an artifact's text.")
class ArtifactText:
    """What `artifactText` answers."""

    artifact: Artifact = strawberry.field(description="The artifact.")
    text: str | None = strawberry.field(description="The stretch; null when it is no text.")
    next_offset: Long | None = strawberry.field(description="Where to go on; null at the end.")
    reason: str | None = strawberry.field(description="Why there is no text and what to do; null where there is.")


@strawberry.input(description="Which artifacts.")
class ArtifactFilter:
    """Fields are joined by and."""

    text: str | None = strawberry.field(default=None, description="Words in the name.")
    media_types: list[str] | None = strawberry.field(
        default=None, description="Of one of these media types; `image/*` is understood."
    )
    statuses: list[ArtifactStatus] | None = strawberry.field(default=None, description="Worth one of these.")
    pipeline: strawberry.ID | None = strawberry.field(default=None, description="From runs of this pipeline.")
    pinned: bool | None = strawberry.field(default=None, description="Pinned only, or none of them.")

    def query(self) -> ArtifactQuery:
        """The same as the use case takes it."""
        return ArtifactQuery(
            text=self.text,
            media_types=tuple(self.media_types) if self.media_types is not None else None,
            statuses=tuple(self.statuses) if self.statuses is not None else None,
            pipeline=self.pipeline,
            pinned=self.pinned,
        )


@strawberry.type(description="An artifact was changed.")
class ArtifactSuccess:
    """A command on an artifact was accepted."""

    artifact: Artifact = strawberry.field(description="The artifact as it is now.")


PinArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ForbiddenProblem,
    strawberry.union("PinArtifactResult", description="What came of pinArtifact."),
]

ReleaseArtifactResult = Annotated[
    ArtifactSuccess | NotFoundProblem | ConflictProblem | ForbiddenProblem,
    strawberry.union("ReleaseArtifactResult", description="What came of releaseArtifact."),
]


async def artifact_page(
    info: Info,
    query: ArtifactQuery,
    first: int | None,
    after: str | None,
    last: int | None,
    before: str | None,
    listed: Callable[..., Awaitable[list[ArtifactRecord]]] = artifacts_in,
) -> ArtifactConnection:
    """A page of the artifacts the caller may see, newest first.

    `listed` finds them; by itself it asks for no scope, since a run's are told to whoever may start it.
    """
    arguments = PageArguments.parse(ARTIFACTS, first=first, after=after, last=last, before=before)
    context = info.context.context
    rows = await listed(context, query=query, window=arguments.window)
    page = page_of(rows, arguments, lambda row: ARTIFACTS.encode((row.id,)))
    return ArtifactConnection.counted(page, Artifact.of, lambda: count_visible_artifacts(context, query))


async def load_artifact(info: Info, artifact_id: str) -> Artifact | None:
    """An artifact the caller may see."""
    found = await get_artifact(info.context.context, id=artifact_id)
    return None if found is None else Artifact.of(found)


@strawberry.type
class ArtifactQueries:
    """Reads of artifacts."""

    @strawberry.field(description="Everything produced, newest first.", directives=[Requires(scope=Scope.READ)])
    async def artifacts(
        self,
        info: Info,
        filter: Annotated[ArtifactFilter | None, strawberry.argument(description="Only those that match.")] = None,
        first: First = None,
        after: After = None,
        last: Last = None,
        before: Before = None,
    ) -> ArtifactConnection:
        """A page of artifacts."""
        query = (filter or ArtifactFilter()).query()
        return await artifact_page(info, query, first, after, last, before, list_visible_artifacts)

    @strawberry.field(
        description="An artifact with a stretch of its text and an address to download it.",
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
        offset: Annotated[Long, strawberry.argument(description="First byte.")] = Long(0),  # noqa: B008
        limit_bytes: Annotated[int, strawberry.argument(description="Longest stretch, up to 200000.")] = 20_000,
    ) -> ArtifactText | None:
        """A stretch of text."""
        found = await artifact_text(info.context.context, id=id, offset=offset, limit_bytes=limit_bytes)
        if found is None:
            return None
        following = Long(found.next_offset) if found.next_offset is not None else None
        return ArtifactText(
            artifact=Artifact.of(found.artifact), text=found.text, next_offset=following, reason=found.reason
        )


@strawberry.type
class ArtifactMutations:
    """Commands on artifacts."""

    @strawberry.mutation(
        description="Keeps an artifact for good, or lets it go with its run again.",
        directives=[Requires(scope=Scope.RUN)],
    )
    @refusable
    async def pin_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact.")],
        pinned: Annotated[bool, strawberry.argument(description="False lets it go.")] = True,
    ) -> PinArtifactResult:
        """Pins or unpins."""
        record = await pin(info.context.context, id=id, pinned=pinned)
        return ArtifactSuccess(artifact=Artifact.of(record))

    @strawberry.mutation(
        description="Lets an artifact out of quarantine, although it holds a secret the vault knows.",
        directives=[Requires(scope=Scope.MANAGE)],
    )
    @refusable
    async def release_artifact(
        self,
        info: Info,
        id: Annotated[strawberry.ID, strawberry.argument(description="The artifact.")],
    ) -> ReleaseArtifactResult:
        """Releases it."""
        record = await release(info.context.context, id=id)
        return ArtifactSuccess(artifact=Artifact.of(record))
