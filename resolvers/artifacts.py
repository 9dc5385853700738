"""Artifacts: look up, list, read text, pin."""

from __future__ import annotations

import asyncio
import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers.access import visible_to
from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound
from runner.issues import error
from store.artifacts import (
    ArtifactFilter,
    ArtifactRecord,
    count_artifacts,
    find_artifact,
    list_artifacts,
    pin_artifact,
    unpin_artifact,
)
from store.pipeline_reads import find_pipeline
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from resolvers.context import Context
    from store.paging import PageWindow

#: Longest stretch of text in one answer, in bytes.
TEXT_BYTES = 200_000


@dataclass(frozen=True, slots=True)
class ArtifactQuery:
    """Which artifacts are asked for; the pipeline by id, key or alias."""

    text: str | None = None
    media_types: tuple[str, ...] | None = None
    statuses: tuple[ArtifactStatus, ...] | None = None
    pipeline: str | None = None
    run: str | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class TextStretch:
    """Part of an artifact's text; `text` is None when it is no text, `next_offset` None at the end."""

    artifact: ArtifactRecord
    text: str | None
    next_offset: int | None


@operation("get_artifact", scope=Scope.READ, kind="query")
async def get_artifact(context: Context, *, id: str) -> ArtifactRecord | None:
    """An artifact the caller may see; None when there is none."""
    async with context.services.store.read() as connection:
        found = await find_artifact(connection, id)
    only = visible_to(context)
    return found if found is not None and (only is None or found.caller_id == only) else None


@operation("list_artifacts", scope=Scope.READ, kind="query")
async def list_visible_artifacts(context: Context, *, query: ArtifactQuery, window: PageWindow) -> list[ArtifactRecord]:
    """Artifacts the caller may see, newest first; one more than the window asks for when there are more."""
    wanted = await _filter(context, query)
    async with context.services.store.read() as connection:
        return await list_artifacts(connection, wanted, window, visible_to=visible_to(context))


async def count_visible_artifacts(context: Context, query: ArtifactQuery) -> int:
    """How many artifacts of a query the caller may see, counted up to 10,000."""
    wanted = await _filter(context, query)
    async with context.services.store.read() as connection:
        return await count_artifacts(connection, wanted, visible_to=visible_to(context))


async def _filter(context: Context, query: ArtifactQuery) -> ArtifactFilter:
    pipeline_id = query.pipeline
    if pipeline_id is not None:
        async with context.services.store.read() as connection:
            found = await find_pipeline(connection, pipeline_id)
        pipeline_id = found.id if found is not None else pipeline_id
    return ArtifactFilter(
        text=query.text,
        media_types=query.media_types,
        statuses=query.statuses,
        pipeline_id=pipeline_id,
        run_id=query.run,
        pinned=query.pinned,
    )


@operation("artifact_text", scope=Scope.READ, kind="query")
async def artifact_text(context: Context, *, id: str, offset: int, limit_bytes: int) -> TextStretch | None:
    """A stretch of an artifact's text, cut at character borders."""
    if offset < 0 or not 1 <= limit_bytes <= TEXT_BYTES:
        raise Invalid(
            f"offset is {offset} and limitBytes {limit_bytes}.",
            [error(("limit_bytes",), "out_of_range", f"offset is 0 or more, limitBytes 1 to {TEXT_BYTES}.")],
        )
    found = await get_artifact(context, id=id)
    if found is None:
        return None
    if found.erased_at is not None or found.status == ArtifactStatus.QUARANTINED:
        return TextStretch(found, None, None)
    path = context.services.engine.resources.blobs.path(found.digest)
    data = await asyncio.to_thread(_read, path, offset, limit_bytes)
    if data is None or b"\0" in data:
        return TextStretch(found, None, None)
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(data)
    except UnicodeDecodeError:
        return TextStretch(found, None, None)
    end = offset + len(data) - len(decoder.getstate()[0])
    return TextStretch(found, context.services.redactor.text(text), end if end < found.size_bytes else None)


def _read(path: Path, offset: int, limit: int) -> bytes | None:
    try:
        with path.open("rb") as file:
            file.seek(offset)
            return file.read(limit)
    except OSError:
        return None


@operation("pin_artifact", scope=Scope.RUN, kind="command", idempotent=True, target="id")
async def pin(context: Context, *, id: str, pinned: bool = True) -> ArtifactRecord:
    """Keeps an artifact for good, or lets it go with its run again."""
    found = await get_artifact(context, id=id)
    if found is None:
        raise NotFound("artifact", id)
    if found.caller_id != context.caller.id and not context.caller.may(Scope.MANAGE):
        raise Forbidden(f"The artifact {id} belongs to another caller.")
    if pinned:
        await context.services.store.write(pin_artifact, id)
    else:
        keep_days = context.services.limits.artifact_days
        await context.services.store.write(unpin_artifact, id, keep_days=keep_days)
    again = await get_artifact(context, id=id)
    if again is None:
        raise NotFound("artifact", id)
    return again


def download_address(context: Context, artifact: ArtifactRecord) -> str | None:
    """Where an artifact can be downloaded for some minutes; None once it is erased or in quarantine."""
    if artifact.erased_at is not None or artifact.status == ArtifactStatus.QUARANTINED:
        return None
    return context.services.sign_download(artifact.id, context.caller.id)
