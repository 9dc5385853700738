"""Uploads: store a caller's file as an artifact that its runs can use.

Not one of `OPERATIONS`, because no GraphQL field and no tool carries a file; but checked and audited like them.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from resolvers.operations import Operation
from resolvers.problems import Invalid, Limited, Problem, Unavailable
from runner.excerpts import excerpt
from runner.files.media_types import HEAD_BYTES, media_type_of
from runner.files.names import NAME_CHARACTERS, plain_name
from runner.issues import error
from runner.secrets.quarantine import known_secret_in
from store.files.artifacts import add_upload, find_artifact
from store.files.blob_port import BlobError, QuotaExceededError, TooLargeError
from store.states import ArtifactStatus, Scope

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, AsyncIterator

    from resolvers.context import Context
    from store.files.artifacts import ArtifactRecord


class UploadTooLarge(Limited):
    """The file exceeds the size limit of uploads."""

    retryable = False


class NoRoom(Limited):
    """The file exceeds the quota of all artifacts, or the free disk space."""


async def _upload(
    context: Context, *, name: str, claimed_type: str | None, chunks: AsyncIterable[bytes]
) -> ArtifactRecord:
    """Stream a caller's file into the store and determine its type from the content."""
    redactor = context.services.redactor
    name = redactor.message(checked_name(name))
    limits = context.services.limits
    body = _Body(chunks)
    try:
        digest, size = await context.services.engine.resources.blobs.put_stream(
            body.pieces(), limit_bytes=limits.upload_bytes
        )
        path = await context.services.engine.resources.blobs.local(digest)
    except TooLargeError:
        raise UploadTooLarge(
            f"{name} exceeds the limit of {limits.upload_bytes} bytes.",
            hint="Send a smaller file, or have the server's PACKLINE_UPLOAD_BYTES raised.",
        ) from None
    except QuotaExceededError as full:
        raise NoRoom(f"{name} does not fit. {full}") from full
    except BlobError as away:
        raise Unavailable(f"{name} could not be stored: {away}", (), hint="Try again later.") from away
    except OSError as failed:
        if failed.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoRoom(
            f"{name} could not be stored: the server's disk is full.",
            hint="Free disk space on the server, then try again.",
        ) from failed
    if size == 0:
        raise _invalid(f"{name} is empty.", ("file",), "empty")
    status = ArtifactStatus.STORED
    if await known_secret_in(redactor, path) is not None:
        status = ArtifactStatus.QUARANTINED
    artifact_id = await context.commit(
        lambda conn: add_upload(
            conn,
            caller_id=context.caller.id,
            name=name,
            media_type=media_type_of(body.head, name, redactor.message(claimed_type or "") or None),
            size_bytes=size,
            digest=digest,
            keep_days=limits.artifact_days,
            status=status,
        ),
        lambda made: made,
    )
    found = await find_artifact(context.services.store, artifact_id)
    assert found is not None, "recorded just now"
    # Makes the picture before a page asks for it.
    await context.services.previews.all_made([found], wait_seconds=0)
    return found


upload_artifact = Operation("upload_artifact", Scope.RUN, "command", False, False, None, _upload)


def checked_name(name: str) -> str:
    """Return a file's name in composed Unicode form.

    Raises:
        Invalid: It is not a plain file name.
    """
    plain = plain_name(name)
    if plain is None:
        raise _invalid(
            f"{excerpt(name.strip(), 80)!r} is not a plain file name. Use at most {NAME_CHARACTERS} characters, "
            "without folders and control characters.",
            ("name",),
            "file_name",
        )
    return plain


def invalid_upload(message: str) -> Problem:
    """Make the refusal of a request without exactly one file."""
    return _invalid(message, ("file",), "file")


def _invalid(message: str, path: tuple[str, ...], rule: str) -> Invalid:
    return Invalid([error(path, rule, message)])


class _Body:
    """The body of an upload, and its first bytes once they have been read."""

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self.head = b""
        self._chunks = chunks

    async def pieces(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            if len(self.head) < HEAD_BYTES:
                self.head += chunk[: HEAD_BYTES - len(self.head)]
            yield chunk
