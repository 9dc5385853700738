"""What the rest of Packline knows of the place where contents are kept.

A content is a file without a name, found by its SHA-256. `store.files.blobs` keeps them in the data folder,
`store.files.blobs_s3` in a bucket; `tests/contract/store/test_blob_stores.py` says what both must do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Sequence
    from pathlib import Path

#: A content this young may wait for its row; it is never pruned.
GRACE_SECONDS = 3600.0
#: What is said of a content that a row names and that is not here; follows the artifact's name.
NOT_HERE = (
    "is not in this server's data folder: it was lost, or another server keeps it. Servers that share a database must "
    "share their data folder too (PACKLINE_DATA_DIR), or keep artifacts in one bucket (PACKLINE_ARTIFACT_STORE)."
)


class BlobError(Exception):
    """A content was not kept or cannot be had; the message says why and what to do."""


class QuotaExceededError(BlobError):
    """The content does not fit what all contents together may take."""

    def __init__(self, size_bytes: int, used_bytes: int, quota_bytes: int) -> None:
        super().__init__(
            f"{size_bytes} bytes do not fit: artifacts take {used_bytes} of {quota_bytes} bytes. "
            "Erase or unpin artifacts, or raise PACKLINE_ARTIFACT_QUOTA_BYTES."
        )


class TooLargeError(BlobError):
    """A stream is longer than allowed; nothing of it was kept."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The content is longer than {limit_bytes} bytes.")
        self.limit_bytes = limit_bytes


class BlobsUnavailableError(BlobError):
    """The place cannot be reached, or answers with errors, for now."""


class BlobsRefusedError(BlobError):
    """The place does not let us in, or is not there: somebody has to change a setting."""


class Content(Protocol):
    """A content that is open for reading: `size_bytes` stay readable although it is removed meanwhile, on a disk."""

    @property
    def size_bytes(self) -> int:
        """How long it is."""

    def read(self, start: int, end: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes from `start` up to `end`, in chunks of at most 256 KiB.

        Raises:
            BlobError: it cannot be read to the end.
        """

    async def close(self) -> None:
        """Close it."""


class Blobs(Protocol):
    """Stores contents by digest: SHA-256 in lower-case hexadecimal. A malformed digest raises ValueError."""

    async def put(self, content: bytes | Path) -> tuple[str, int]:
        """Store a content; return its digest and size. The timestamp of a content that is already stored is renewed.

        Raises:
            QuotaExceededError: it does not fit.
            BlobsUnavailableError, BlobsRefusedError: it could not be stored; nothing is left behind.
            OSError: the file cannot be read, or the disk is full.
        """

    async def keep(self, digest: str) -> Path:
        """Renew the timestamp of a stored content, as storing it again would; return a file as `local` does.

        Raises as `local`, and `QuotaExceededError` when it had to be stored again.
        """

    async def put_stream(self, chunks: AsyncIterable[bytes], *, limit_bytes: int) -> tuple[str, int]:
        """Store a content that arrives in chunks, such as an upload; one chunk is in memory at a time.

        Exceptions of the iterator are raised, and nothing is left behind. Raises as `put`, and:

        Raises:
            TooLargeError: it is longer than `limit_bytes`.
        """

    async def content(self, digest: str) -> Content:
        """Open a content.

        Raises:
            FileNotFoundError: it is not stored.
            BlobsUnavailableError, BlobsRefusedError: it is unknown whether it is stored.
        """

    async def local(self, digest: str) -> Path:
        """Return a read-only file on this machine with the content, for libraries that read files.

        The file stays for at least an hour after the last call.

        Raises:
            FileNotFoundError: the content is not stored.
            BlobsUnavailableError, BlobsRefusedError: it cannot be fetched.
            OSError: there is no room for it on this machine.
        """

    async def put_before(self, instant: float) -> list[str]:
        """List the digests of contents last stored before an instant, in epoch seconds."""

    async def discard(self, digests: Sequence[str], *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
        """Remove contents that no row refers to; return how many, and their bytes.

        Those stored or renewed within `grace_seconds` stay: their row may not be committed yet.
        """

    async def tidy(self) -> None:
        """Remove partial files of dead writers, and cached contents beyond the cache's limit."""

    async def check(self) -> str:
        """Check that contents can be stored; return a sentence that says where.

        Raises:
            BlobsUnavailableError, BlobsRefusedError: they cannot; the message says what to do.
        """


def size_text(size_bytes: int) -> str:
    """Write a size in the largest unit of which it has one: `5 bytes`, `209.4 KiB`."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size_bytes >> shift:
            return f"{size_bytes / (1 << shift):,.1f} {unit}"
    return f"{size_bytes} bytes"
