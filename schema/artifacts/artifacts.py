"""Artifacts: what steps produced."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.artifacts.artifacts import download_address, preview_address, text_preview
from resolvers.records import ArtifactRecord, PreviewKind
from schema.base.context import Info
from schema.base.directives import Cost
from schema.base.enums import described_enum
from schema.base.node_interface import Node
from schema.base.scalars import Long
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from resolvers.records import PreviewRecord
    from schema.runs.attempts import Attempt
    from schema.runs.runs import Run
    from schema.runs.steps import RunStep

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


@strawberry.type(description="A file the server keeps, addressed by content.")
class Artifact(Node):
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

    @strawberry.field(
        description="The run it came from; null for an upload, once pruned, and to those who may not see that run."
    )
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")] | None':
        from schema.runs.runs import load_run

        return None if self.record.run_id is None else await load_run(info, self.record.run_id)

    @strawberry.field(description="The step whose success verified it; null to those who may not see its run.")
    async def verified_by(self, info: Info) -> 'Annotated[RunStep, strawberry.lazy("schema.runs.steps")] | None':
        from schema.runs.steps import load_step

        return None if self.record.verified_by is None else await load_step(info, self.record.verified_by)

    @strawberry.field(
        description=(
            "The attempt that produced it; null for an upload, once pruned, and to those who may not see its run, as "
            "when their own run reuses the output of another caller's."
        )
    )
    async def produced_by(self, info: Info) -> 'Annotated[Attempt, strawberry.lazy("schema.runs.attempts")] | None':
        from schema.runs.attempts import load_attempt

        return None if self.record.attempt_id is None else await load_attempt(info, self.record.attempt_id)

    @strawberry.field(
        description=("Where to download it, with ranges; valid for some minutes; null once erased or in quarantine.")
    )
    def download_url(self, info: Info) -> str | None:
        return download_address(info.context.context, self.record)

    @strawberry.field(
        description=(
            "Where a small picture of it can be had, as WebP; valid for some minutes. Null when it has none, once "
            "erased and in quarantine. The picture is made at the first request, which may find that there is none "
            "after all."
        )
    )
    async def preview_url(self, info: Info) -> str | None:
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
        found = await self._preview(info)
        return None if found is None else found.kind

    @strawberry.field(description="Why there is nothing to see; null when there is, or it is not known yet.")
    async def preview_problem(self, info: Info) -> str | None:
        found = await self._preview(info)
        return None if found is None else found.reason

    @strawberry.field(description="Pages of a PDF, slides of a presentation; null for everything else.")
    async def page_count(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.pages

    @strawberry.field(description="Width of a picture or video, in pixels.")
    async def width(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.width

    @strawberry.field(description="Height of a picture or video, in pixels.")
    async def height(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.height

    @strawberry.field(description="How long a sound or video lasts.")
    async def duration_seconds(self, info: Info) -> float | None:
        found = await self._preview(info)
        return None if found is None else found.duration_seconds

    @strawberry.field(
        description=(
            "Loudest moment of each of equally long stretches of a sound, in order, from 0 (silent) to 1; at most 240."
        ),
        directives=[Cost(weight=5)],
    )
    async def waveform(self, info: Info) -> list[float] | None:
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
        return await text_preview(info.context.context, self.record, limit, lambda: self._preview(info))

    async def _preview(self, info: Info) -> "PreviewRecord | None":
        return await info.context.loaders.preview.load(self.record)


async def load_artifact(info: Info, artifact_id: str) -> Artifact | None:
    found = await info.context.loaders.artifact.load(artifact_id)
    return None if found is None else Artifact.of(found)
