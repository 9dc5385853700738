"""Makes previews, once for each content when first requested, in a worker process with limits.

One is made at a time, so that runs have the other cores; callers with waiting files take turns. Results are stored,
failures too, so that a file kills its worker only once. Failures that say nothing about the file are not stored: a
missing library, a full disk, a server that stops.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog

from runner.failures import FailureCode, PackError
from runner.fair_turns import FairTurns
from runner.files.media_types import is_text_type
from runner.files.preview_drawing import DrawnPreview
from runner.files.preview_worker import draw
from runner.processes.processes import ProcessLimits, run_in_process
from store.database.errors import StoreError
from store.files.blob_port import BlobError
from store.files.previews import PreviewKind, PreviewRecord, find_previews, save_preview
from store.states import ArtifactStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from store.database.engine import Store
    from store.files.artifacts import ArtifactRecord
    from store.files.blob_port import Blobs

log = structlog.get_logger(__name__)

#: Limits of drawing one preview.
DRAW_SECONDS = 30.0
MEMORY_BYTES = 2 << 30
#: Larger files have no preview.
FILE_BYTES = 2 << 30
#: Most waiting contents of one caller; further ones are reported as not ready.
WAITING = 500
_NOT_ABOUT_THE_FILE = frozenset({FailureCode.NOT_FOUND, FailureCode.POLICY_DENIED})


class Previews:
    """Makes previews and stores them.

    Args:
        store: Stores the previews.
        blobs: The contents, and the pictures of previews.
        draw_seconds: Timeout of drawing one.
    """

    def __init__(self, store: Store, blobs: Blobs, *, draw_seconds: float = DRAW_SECONDS) -> None:
        self._store = store
        self._blobs = blobs
        self._draw_seconds = draw_seconds
        self._turns = FairTurns(1)
        self._making: dict[str, asyncio.Task[PreviewRecord | None]] = {}
        self._asked: Counter[str] = Counter()  # number of waiting contents by caller

    async def stop(self) -> None:
        """Cancel the previews that are being made; a second call does nothing."""
        tasks = list(self._making.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _known(self, digests: Sequence[str]) -> dict[str, PreviewRecord]:
        return await find_previews(self._store, digests)

    async def made(self, artifact: ArtifactRecord, *, wait_seconds: float) -> PreviewRecord | None:
        """Return an artifact's preview, made now if necessary; None while it is not ready in time."""
        return (await self.all_made([artifact], wait_seconds=wait_seconds)).get(artifact.digest)

    async def all_made(
        self, artifacts: Sequence[ArtifactRecord], *, wait_seconds: float, make: bool = True
    ) -> Mapping[str, PreviewRecord]:
        """Return the previews that are ready in time, by digest; the others are still being made, if `make`."""
        found = {artifact.digest: text for artifact in artifacts if (text := _without_drawing(artifact)) is not None}
        wanted = {artifact.digest: artifact for artifact in artifacts if artifact.digest not in found}
        if wanted:
            found |= await self._known(list(wanted))
        if not make:
            return found
        tasks = {
            digest: self._make(artifact)
            for digest, artifact in wanted.items()
            if digest not in found and (digest in self._making or self._asked[artifact.caller_id] < WAITING)
        }
        if tasks:
            # Not cancelled on timeout or when a waiting caller is cancelled: the preview will be requested again.
            await asyncio.wait(tasks.values(), timeout=wait_seconds)
        for digest, task in tasks.items():
            if task.done() and not task.cancelled() and (made := task.result()) is not None:
                found[digest] = made
        return found

    def _make(self, artifact: ArtifactRecord) -> asyncio.Task[PreviewRecord | None]:
        task = self._making.get(artifact.digest)
        if task is None:
            task = asyncio.create_task(self._look(artifact), name=f"preview {artifact.id}")
            self._making[artifact.digest] = task
            self._asked[artifact.caller_id] += 1
            task.add_done_callback(lambda _: self._made(artifact))
        return task

    def _made(self, artifact: ArtifactRecord) -> None:
        del self._making[artifact.digest]
        self._asked -= Counter([artifact.caller_id])  # drops callers without waiting files

    async def _look(self, artifact: ArtifactRecord) -> PreviewRecord | None:
        async with self._turns.place(artifact.caller_id):
            try:
                return await self._drawn(artifact)
            except (BlobError, StoreError, OSError) as error:
                log.warning("a preview could not be made", artifact=artifact.id, error=str(error))
            except Exception:  # nothing else awaits this task
                log.exception("making a preview failed", artifact=artifact.id)
            return None

    async def _drawn(self, artifact: ArtifactRecord) -> PreviewRecord | None:
        try:
            drawing = await self._draw(artifact)
        except PackError as error:
            if error.failure.code in _NOT_ABOUT_THE_FILE:
                log.warning("a preview could not be made", artifact=artifact.id, error=error.failure.message)
                return PreviewRecord(artifact.digest, PreviewKind.NONE, reason=error.failure.message)
            drawing = DrawnPreview("none", reason=_blame(error))
        preview = PreviewRecord(
            artifact.digest,
            PreviewKind(drawing.kind),
            pages=drawing.pages,
            width=drawing.width,
            height=drawing.height,
            duration_seconds=drawing.duration_seconds,
            peaks=drawing.peaks,
            text=drawing.text,
            reason=drawing.reason,
        )
        size = 0
        if drawing.image is not None:
            digest, size = await self._blobs.put(drawing.image)
            preview = replace(preview, image_digest=digest, image_type="image/webp")
        await self._store.write(save_preview, preview, image_bytes=size)
        return preview

    async def _draw(self, artifact: ArtifactRecord) -> DrawnPreview:
        if artifact.size_bytes > FILE_BYTES:
            return DrawnPreview("none", reason=f"The file is larger than {FILE_BYTES >> 30} GiB.")
        path = await self._blobs.local(artifact.digest)
        return await run_in_process(
            draw,
            str(path),
            artifact.name,
            timeout_seconds=self._draw_seconds,
            limits=ProcessLimits(memory_bytes=MEMORY_BYTES, file_bytes=0),
        )


def _without_drawing(artifact: ArtifactRecord) -> PreviewRecord | None:
    """Return the preview of files that need no drawing: text, and contents that may not be shown."""
    if artifact.erased_at is not None or artifact.status is ArtifactStatus.QUARANTINED:
        return PreviewRecord(artifact.digest, PreviewKind.NONE, reason="The content may not be shown.")
    if is_text_type(artifact.media_type):
        return PreviewRecord(artifact.digest, PreviewKind.TEXT)
    return None


def _blame(error: PackError) -> str:
    match error.failure.code:
        case FailureCode.TIMEOUT:
            return "Drawing a preview takes too long."
        case FailureCode.RESOURCE_EXHAUSTED:
            return "Drawing a preview needs too much memory."
        case _:
            return "Drawing a preview crashed the process that drew it."


def may_have_picture(media_type: str) -> bool:
    """Return whether files of a media type can have a picture, as far as the type tells."""
    if media_type.startswith("image/"):
        return not is_text_type(media_type)
    return media_type.startswith("video/") or media_type.partition(";")[0] == "application/pdf"
