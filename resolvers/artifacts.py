"""Artifacts: look up, list, read text, pin."""

from __future__ import annotations

import asyncio
import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from resolvers.access import visible_to
from resolvers.operations import operation
from resolvers.problems import Forbidden, Invalid, NotFound, Unavailable
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
from store.blobs import NOT_HERE
from store.pipeline_reads import find_pipeline
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from resolvers.context import Context
    from runner.redaction import Redactor
    from store.paging import PageWindow

#: Longest stretch of text in one answer, in bytes.
TEXT_BYTES = 200_000
#: Bytes looked at before and after a stretch for a secret that crosses its border; the longest token is that long.
LOOK_BEHIND = 16_384
LOOK_AHEAD = 4_096
_CONTINUATION = bytes(range(0x80, 0xC0))


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
        found = await find_pipeline(context.services.store, pipeline_id)
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
    # A character has up to four bytes, and each stretch must get on.
    stretch = await asyncio.to_thread(_read, path, offset, max(limit_bytes, 4))
    if stretch is None:
        raise Unavailable(f"The content of {found.name} {NOT_HERE}", ())
    text = stretch.text(context.services.redactor)
    if text is None:
        return TextStretch(found, None, None)
    return TextStretch(found, text, stretch.end if stretch.end < found.size_bytes else None)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Bytes of a file with what stands around them, so that a secret across the border is recognised."""

    before: bytes
    data: bytes
    after: bytes
    offset: int

    @property
    def end(self) -> int:
        """Offset after the last whole character."""
        return self.offset + len(self.data) - len(self._unfinished())

    def text(self, redactor: Redactor) -> str | None:
        """The characters that begin here, secrets masked; None when it is no text."""
        if b"\0" in self.data:
            return None
        try:
            # The rest of a character that began before belongs to the stretch before.
            data = self.data.lstrip(_CONTINUATION) if self.offset else self.data
            text = data[: len(data) - len(self._unfinished())].decode()
        except UnicodeDecodeError:
            return None
        before, after = self.before.decode(errors="ignore"), self.after.decode(errors="ignore")
        whole = before + text + after
        masked = redactor.text(whole)
        if masked is whole:
            return text
        # As far as both agree nothing crosses the border.
        alone = redactor.text(before)
        agree = next((index for index, pair in enumerate(zip(masked, alone, strict=False)) if pair[0] != pair[1]), None)
        return masked[len(alone) if agree is None else agree :].removesuffix(after)

    def _unfinished(self) -> bytes:
        decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        decoder.decode(self.data)
        return decoder.getstate()[0]


def _read(path: Path, offset: int, limit: int) -> _Stretch | None:
    try:
        with path.open("rb") as file:
            begin = max(0, offset - LOOK_BEHIND)
            file.seek(begin)
            before = file.read(offset - begin)
            data = file.read(limit)
            after = file.read(LOOK_AHEAD) if data[-1:].strip() else b""
    except OSError:
        return None
    return _Stretch(before, data, after.split(maxsplit=1)[0] if after[:1].strip() else b"", offset)


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
    if again is None or (pinned and again.erased_at is not None):
        raise NotFound("artifact", id, hint="Its content is gone already; run the step that made it again.")
    if pinned and not again.pinned:
        raise Forbidden(f"The artifact {id} is in quarantine, because it seems to hold a secret.")
    return again


def download_address(context: Context, artifact: ArtifactRecord) -> str | None:
    """Where an artifact can be downloaded for some minutes; None once it is erased or in quarantine."""
    if artifact.erased_at is not None or artifact.status == ArtifactStatus.QUARANTINED:
        return None
    return context.services.sign_download(artifact.id, context.caller.id)
