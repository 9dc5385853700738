"""Artifacts: files that steps produced or callers uploaded, with their previews."""

# mypy: disallow-untyped-decorators=False, warn-return-any=False
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import strawberry

from resolvers.artifacts.artifacts import PREVIEW_BYTES, download_address, preview_address, text_preview
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
    "How far the content of an artifact can be trusted.",
    {
        "STORED": "Uploaded, or made by a pack whose post-conditions passed.",
        "PROPOSED": "Made by an agent and not verified.",
        "VERIFIED": "Made by an agent, and then read by a later deterministic step that succeeded.",
        "QUARANTINED": "Contains a known secret. It cannot be downloaded.",
    },
)

described_enum(
    PreviewKind,
    "The kind of preview available for an artifact.",
    {
        "PAGE": "An image of the first page of a document.",
        "PICTURE": "A smaller version of the image.",
        "FRAME": "A frame of a video, as an image.",
        "WAVEFORM": "The loudness of a sound over time, in `waveform`.",
        "TEXT": "The beginning of its text, in `preview`.",
        "NONE": "None; `previewProblem` says why.",
    },
)


@strawberry.type(description="A file stored on the server, addressed by the hash of its content.")
class Artifact(Node):
    name: str = strawberry.field(description="The file name.")
    media_type: str = strawberry.field(description="The media type.")
    size_bytes: Long = strawberry.field(description="The size in bytes.")
    digest: str = strawberry.field(description="SHA-256 of the content, in hexadecimal.")
    status: ArtifactStatus = strawberry.field(description="How far the content can be trusted.")
    created_at: datetime = strawberry.field(description="When the artifact was stored.")
    expires_at: datetime | None = strawberry.field(
        description="When the artifact will be deleted. Null while its run is in progress, if its run failed or was "
        "cancelled (it is then deleted with the run), and if it is pinned."
    )
    pinned: bool = strawberry.field(description="Whether it is exempt from automatic deletion.")
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
        description="The run that produced it. Null for an upload, once the run is deleted, or if the caller "
        "may not see that run."
    )
    async def run(self, info: Info) -> 'Annotated[Run, strawberry.lazy("schema.runs.runs")] | None':
        from schema.runs.runs import load_run

        return None if self.record.run_id is None else await load_run(info, self.record.run_id)

    @strawberry.field(
        description="The step that verified it by reading it successfully. Null if there is "
        "none, or if the caller may not see its run."
    )
    async def verified_by(self, info: Info) -> 'Annotated[RunStep, strawberry.lazy("schema.runs.steps")] | None':
        from schema.runs.steps import load_step

        return None if self.record.verified_by is None else await load_step(info, self.record.verified_by)

    @strawberry.field(
        description=(
            "The attempt that produced it. Null for an upload, once the run is deleted, or if the caller may "
            "not see that run, for example if the caller's run reuses another caller's output."
        )
    )
    async def produced_by(self, info: Info) -> 'Annotated[Attempt, strawberry.lazy("schema.runs.attempts")] | None':
        from schema.runs.attempts import load_attempt

        return None if self.record.attempt_id is None else await load_attempt(info, self.record.attempt_id)

    @strawberry.field(
        description=(
            "Signed download URL that supports range requests and expires after 15 minutes by "
            "default. Null once the content is deleted or quarantined."
        )
    )
    def download_url(self, info: Info) -> str | None:
        return download_address(info.context.context, self.record)

    @strawberry.field(
        description=(
            "Signed URL of a small WebP image that expires after 15 minutes by default. Null if there is no "
            "image, or once the content is deleted or quarantined. The image is created at the first "
            "request, which may find that none can be made."
        )
    )
    async def preview_url(self, info: Info) -> str | None:
        known = await info.context.loaders.known_preview.load(self.record)
        return preview_address(info.context.context, self.record, known)

    @strawberry.field(
        description=(
            "The kind of preview. This and the other fields about the content are computed when first read; "
            "they are null until that is done, so read them again."
        ),
        directives=[Cost(weight=2)],
    )
    async def preview_kind(self, info: Info) -> PreviewKind | None:
        found = await self._preview(info)
        return None if found is None else found.kind

    @strawberry.field(description="Why there is no preview. Null if there is one, or if it is not computed yet.")
    async def preview_problem(self, info: Info) -> str | None:
        found = await self._preview(info)
        return None if found is None else found.reason

    @strawberry.field(description="Number of pages of a PDF or slides of a presentation. Null for other files.")
    async def page_count(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.pages

    @strawberry.field(description="Width in pixels of an image or video, as displayed.")
    async def width(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.width

    @strawberry.field(description="Height in pixels of an image or video, as displayed.")
    async def height(self, info: Info) -> int | None:
        found = await self._preview(info)
        return None if found is None else found.height

    @strawberry.field(description="Duration of a sound or video, in seconds.")
    async def duration_seconds(self, info: Info) -> float | None:
        found = await self._preview(info)
        return None if found is None else found.duration_seconds

    @strawberry.field(
        description=("Peaks of a sound over equal time spans, in order, from 0 (silent) to 1; at most 240."),
        directives=[Cost(weight=5)],
    )
    async def waveform(self, info: Info) -> list[float] | None:
        found = await self._preview(info)
        return None if found is None or found.peaks is None else list(found.peaks)

    @strawberry.field(
        description="The beginning of the content as text, also for Office documents. Secrets are masked. "
        "Null if the content is not text.",
        directives=[Cost(weight=5)],
    )
    async def preview(
        self,
        info: Info,
        limit_bytes: Annotated[
            int, strawberry.argument(description=f"Maximum size of the text, in bytes; 1 to {PREVIEW_BYTES}.")
        ] = 2000,
    ) -> str | None:
        return await text_preview(info.context.context, self.record, limit_bytes, lambda: self._preview(info))

    async def _preview(self, info: Info) -> "PreviewRecord | None":
        return await info.context.loaders.preview.load(self.record)


async def load_artifact(info: Info, artifact_id: str) -> Artifact | None:
    found = await info.context.loaders.artifact.load(artifact_id)
    return None if found is None else Artifact.of(found)
