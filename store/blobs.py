"""Content-addressed files: each content is kept once, under its SHA-256, in `<data folder>/blobs/ab/cdef…`.

A file appears under its digest whole and on disk or not at all: written beside, synced, renamed, folder synced. Names
of users never become paths. `prune` removes what no row refers to; a lock file and the file's time keep it away from a
content that is being put right now and has no row yet.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import re
import secrets
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterable, Iterable, Iterator
    from typing import BinaryIO

#: A content this young may wait for its row; it is never pruned.
GRACE_SECONDS = 3600.0
#: What is said of a content that a row names and that is not here; follows the artifact's name.
NOT_HERE = (
    "is not in this server's data folder: it was lost, or another server keeps it. Servers that share a database must "
    "share their data folder too (PACKLINE_DATA_DIR)."
)
_CHUNK = 1 << 20
_DIGEST = re.compile(r"[0-9a-f]{64}")


class QuotaExceededError(Exception):
    """The content does not fit what the blob folder may hold."""


class TooLargeError(Exception):
    """A stream is longer than allowed; nothing of it was kept."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"The content is longer than {limit_bytes} bytes.")
        self.limit_bytes = limit_bytes


class BlobStore:
    """The blob folder of a data folder; several processes may share it."""

    def __init__(self, data_dir: Path, quota_bytes: int | None = None) -> None:
        """Names the folder; it is made at the first `put`.

        Args:
            data_dir: The data folder.
            quota_bytes: What all contents together may take; None for no limit. Several processes that share the
                folder learn of each other's contents at each `prune`.
        """
        self.folder = data_dir / "blobs"
        self.quota_bytes = quota_bytes
        self._temporary = self.folder / "tmp"
        self._used: int | None = None

    async def put(self, content: bytes | Path) -> tuple[str, int]:
        """Keeps a content, in a thread; its digest and size.

        Raises:
            QuotaExceededError: it does not fit the quota.
            OSError: it cannot be read or written, for instance because the disk is full.
        """
        return await asyncio.to_thread(self.put_now, content)

    def put_now(self, content: bytes | Path) -> tuple[str, int]:
        """What `put` does, blocking."""
        if isinstance(content, bytes):
            self._reserve(len(content))
            return self._keep([content])
        self._reserve(content.stat().st_size)
        with content.open("rb") as file:
            return self._keep(iter(lambda: file.read(_CHUNK), b""))

    async def put_stream(self, chunks: AsyncIterable[bytes], *, limit_bytes: int) -> tuple[str, int]:
        """Keeps a content that arrives in pieces, such as an upload; memory holds one piece at a time.

        Raises:
            TooLargeError: it is longer than `limit_bytes`.
            QuotaExceededError: it does not fit the quota.
        """
        size = 0
        digest = hashlib.sha256()
        part = await asyncio.to_thread(self._new_part)
        try:
            with part.open("wb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    if size > limit_bytes:
                        raise TooLargeError(limit_bytes)
                    self._reserve(size)
                    digest.update(chunk)
                    await asyncio.to_thread(file.write, chunk)
                await asyncio.to_thread(_sync, file)
            name = digest.hexdigest()
            await asyncio.to_thread(self._settle, part, name, size)
        finally:
            part.unlink(missing_ok=True)
        return name, size

    def path(self, digest: str) -> Path:
        """Where a content lies, or would.

        Raises:
            ValueError: that is no SHA-256 in lower-case hex.
        """
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is no SHA-256 in lower-case hex.")
        return self.folder / digest[:2] / digest[2:]

    def exists(self, digest: str) -> bool:
        """Whether a content is here."""
        return self.path(digest).is_file()

    def open(self, digest: str) -> BinaryIO:
        """Opens a content for reading.

        Raises:
            FileNotFoundError: it is not here.
        """
        return self.path(digest).open("rb")

    def digests(self, *, older_than: float | None = None) -> Iterator[str]:
        """The digests of what is here, in no order; only files last put before `older_than` (epoch seconds)."""
        for entry in self._entries():
            with suppress(FileNotFoundError):
                if older_than is None or entry.stat().st_mtime < older_than:
                    yield Path(entry.path).parent.name + entry.name

    def remove(self, digests: Iterable[str], *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
        """Removes contents that no row refers to; how many and how many bytes.

        What was put, or put again, within `grace_seconds` stays: its row may be on the way.
        """
        removed = size = 0
        for digest in digests:
            path = self.path(digest)
            with self._locked(exclusive=True), suppress(FileNotFoundError):
                status = path.stat()
                if status.st_mtime < time.time() - grace_seconds:
                    path.unlink()
                    removed += 1
                    size += status.st_size
        self._used = None
        return removed, size

    def sweep_parts(self, *, grace_seconds: float = 24 * GRACE_SECONDS) -> int:
        """Removes what writers that died left half written; how many files."""
        removed = 0
        if self._temporary.is_dir():
            for part in self._temporary.iterdir():
                with suppress(FileNotFoundError):
                    if part.stat().st_mtime < time.time() - grace_seconds:
                        part.unlink()
                        removed += 1
        return removed

    def used_bytes(self) -> int:
        """What all contents together take."""
        if self._used is None:
            used = 0
            for entry in self._entries():
                with suppress(FileNotFoundError):
                    used += entry.stat().st_size
            self._used = used
        return self._used

    def _reserve(self, size: int) -> None:
        if self.quota_bytes is not None and self.used_bytes() + size > self.quota_bytes:
            raise QuotaExceededError(
                f"{size} bytes do not fit: artifacts take {self.used_bytes()} of {self.quota_bytes} bytes. "
                "Erase or unpin artifacts, or raise PACKLINE_ARTIFACT_QUOTA_BYTES."
            )

    def _keep(self, chunks: Iterable[bytes]) -> tuple[str, int]:
        part = self._new_part()
        try:
            digest = hashlib.sha256()
            size = 0
            with part.open("wb") as file:
                for chunk in chunks:
                    digest.update(chunk)
                    size += len(chunk)
                    file.write(chunk)
                _sync(file)
            name = digest.hexdigest()
            self._settle(part, name, size)
        finally:
            part.unlink(missing_ok=True)
        return name, size

    def _new_part(self) -> Path:
        self._temporary.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._temporary / secrets.token_hex(16)

    def _settle(self, part: Path, digest: str, size: int) -> None:
        """Gives a written file its name; a content that is here already is only made young again."""
        target = self.path(digest)
        with self._locked(exclusive=False):
            try:
                os.utime(target)
            except FileNotFoundError:
                if not target.parent.is_dir():
                    target.parent.mkdir(exist_ok=True, mode=0o700)
                    _sync_folder(self.folder)
                part.replace(target)
                _sync_folder(target.parent)
                if self._used is not None:
                    self._used += size

    @contextmanager
    def _locked(self, *, exclusive: bool) -> Iterator[None]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / ".lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
            yield

    def _entries(self) -> Iterator[os.DirEntry[str]]:
        if not self.folder.is_dir():
            return
        for folder in self.folder.iterdir():
            if len(folder.name) == 2 and folder.is_dir():
                with os.scandir(folder) as entries:
                    yield from (entry for entry in entries if len(entry.name) == 62)


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
