"""Uploads: a file of a caller's becomes an artifact that its runs can use.

Not one of `OPERATIONS`, because no GraphQL field and no tool carries a file; it is checked and audited like them.
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
    """The file is longer than an upload may be."""

    retryable = False


class NoRoom(Limited):
    """The file does not fit what all artifacts together may take, or the disk."""


async def _upload(
    context: Context, *, name: str, claimed_type: str | None, chunks: AsyncIterable[bytes]
) -> ArtifactRecord:
    """Keeps a file of the caller's; its content is streamed, and what its sender says of its type is not believed."""
    redactor = context.services.redactor
    name = redactor.message(checked_name(name))
    limits = context.services.limits
    beginning = _Beginning(chunks)
    try:
        digest, size = await context.services.engine.resources.blobs.put_stream(
            beginning.pieces(), limit_bytes=limits.upload_bytes
        )
        path = await context.services.engine.resources.blobs.local(digest)
    except TooLargeError:
        raise UploadTooLarge(
            f"{name} is larger than the {limits.upload_bytes} bytes an upload may have.",
            hint="Send a smaller file, or have the server's PACKLINE_UPLOAD_BYTES raised.",
        ) from None
    except QuotaExceededError as full:
        raise NoRoom(f"{name} does not fit. {full}") from full
    except BlobError as away:
        raise Unavailable(f"{name} could not be kept: {away}", (), hint="Try again in a while.") from away
    except OSError as failed:
        if failed.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NoRoom(
            f"{name} could not be kept: the server's disk is full.",
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
            media_type=media_type_of(beginning.head, name, redactor.message(claimed_type or "") or None),
            size_bytes=size,
            digest=digest,
            keep_days=limits.artifact_days,
            status=status,
        ),
        lambda made: made,
    )
    found = await find_artifact(context.services.store, artifact_id)
    assert found is not None, "recorded just now"
    # So that the picture is there when a page asks for it.
    await context.services.previews.all_made([found], wait_seconds=0)
    return found


upload_artifact = Operation("upload_artifact", Scope.RUN, "command", False, False, None, _upload)


def checked_name(name: str) -> str:
    """A file's name in the composed form everybody types.

    Raises:
        Invalid: it is no plain file name.
    """
    plain = plain_name(name)
    if plain is None:
        raise _invalid(
            f"{excerpt(name.strip(), 80)!r} is no plain file name: use one without folders and control characters, "
            f"of at most {NAME_CHARACTERS} characters.",
            ("name",),
            "file_name",
        )
    return plain


def invalid_upload(message: str) -> Problem:
    """The refusal of a request that carries no file, or not one."""
    return _invalid(message, ("file",), "file")


def _invalid(message: str, path: tuple[str, ...], rule: str) -> Invalid:
    return Invalid([error(path, rule, message)])


class _Beginning:
    """Pieces of a file as they pass, and its first bytes."""

    def __init__(self, chunks: AsyncIterable[bytes]) -> None:
        self.head = b""
        self._chunks = chunks

    async def pieces(self) -> AsyncIterator[bytes]:
        """The pieces."""
        async for chunk in self._chunks:
            if len(self.head) < HEAD_BYTES:
                self.head += chunk[: HEAD_BYTES - len(self.head)]
            yield chunk
