"""Content-addressed files: each content is stored once, under its SHA-256, in `<data folder>/blobs/ab/cdef…`.

A file appears under its digest complete and durable or not at all: it is written to a temporary file, synced, renamed,
and the folder synced. Users' names never become paths. `remove` deletes contents that no row refers to; a lock file and
the file's time protect contents that are being stored and have no row yet.
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

from store.database.durable_files import sync_file, sync_folder
from store.files.blob_port import (
    GRACE_SECONDS,
    BlobsRefusedError,
    BlobsUnavailableError,
    QuotaExceededError,
    TooLargeError,
    size_text,
)

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

_CHUNK = 1 << 20
_PIECE = 256 * 1024
_DIGEST = re.compile(r"[0-9a-f]{64}")


class _File:
    """An open file as `store.files.blob_port.Content`."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size_bytes = os.fstat(file.fileno()).st_size

    async def read(self, start: int, end: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes from `start` up to `end`."""
        while start < end:
            # With its own offset, so that two readers do not disturb each other.
            piece = await asyncio.to_thread(os.pread, self._file.fileno(), min(_PIECE, end - start), start)
            if not piece:
                raise BlobsUnavailableError("The content became shorter while it was read.")
            start += len(piece)
            yield piece

    async def close(self) -> None:
        self._file.close()


class BlobStore:
    """The blob folder of a data folder; several processes may share it."""

    def __init__(self, data_dir: Path, quota_bytes: int | None = None) -> None:
        """Set up the folder, which is made by the first `put`.

        Args:
            data_dir: The data folder.
            quota_bytes: Limit of all contents together; None for no limit. Processes that share the folder count each
                other's contents whenever it is listed.
        """
        self.folder = data_dir / "blobs"
        self.quota_bytes = quota_bytes
        self._temporary = self.folder / "tmp"
        self._used: int | None = None

    async def put(self, content: bytes | Path) -> tuple[str, int]:
        """Store a content, in a thread; return its digest and size.

        Raises:
            QuotaExceededError: it does not fit the quota.
            OSError: it cannot be read or written, for instance because the disk is full.
        """
        return await asyncio.to_thread(self.put_now, content)

    def put_now(self, content: bytes | Path) -> tuple[str, int]:
        """Do what `put` does, blocking."""
        if isinstance(content, bytes):
            self._reserve(len(content))
            return self._keep([content])
        self._reserve(content.stat().st_size)
        with content.open("rb") as file:
            return self._keep(iter(lambda: file.read(_CHUNK), b""))

    async def keep(self, digest: str) -> Path:
        """Renew a content's timestamp and return its file; raises FileNotFoundError when it is not stored."""
        return await asyncio.to_thread(self._renew, digest)

    def _renew(self, digest: str) -> Path:
        path = self.path(digest)
        with self._locked(exclusive=False):
            os.utime(path)
        return path

    async def put_stream(self, chunks: AsyncIterable[bytes], *, limit_bytes: int) -> tuple[str, int]:
        """Store a content that arrives in chunks, such as an upload; one chunk is in memory at a time.

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
                    await asyncio.to_thread(self._take, file, digest.update, chunk, size)
                await asyncio.to_thread(sync_file, file)
            name = digest.hexdigest()
            await asyncio.to_thread(self._settle, part, name, size)
        finally:
            part.unlink(missing_ok=True)
        return name, size

    async def content(self, digest: str) -> _File:
        """Open a content; raises FileNotFoundError when it is not stored."""
        return _File(await asyncio.to_thread(self.open, digest))

    async def local(self, digest: str) -> Path:
        """Return the content's file; raises FileNotFoundError when it is not stored."""
        path = self.path(digest)
        if not await asyncio.to_thread(path.is_file):
            raise FileNotFoundError(path)
        return path

    async def put_before(self, instant: float) -> list[str]:
        """Run `digests` in a thread."""
        return await asyncio.to_thread(lambda: list(self.digests(older_than=instant)))

    async def discard(self, digests: Sequence[str], *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
        """Run `remove` in a thread."""
        return await asyncio.to_thread(self.remove, digests, grace_seconds=grace_seconds)

    async def tidy(self) -> None:
        """Run `sweep_parts` in a thread."""
        await asyncio.to_thread(self.sweep_parts)

    async def check(self) -> str:
        """Check that the folder is writable; say how much it contains."""
        try:
            part = await asyncio.to_thread(self._new_part)
            await asyncio.to_thread(part.touch)
            await asyncio.to_thread(part.unlink)
        except OSError as error:
            raise BlobsRefusedError(
                f"Nothing can be written to {self.folder}: {error.strerror or error}. Fix the folder's permissions, "
                "or choose another data folder with PACKLINE_DATA_DIR."
            ) from error
        used = await asyncio.to_thread(self.used_bytes)
        return f"Contents are stored in {self.folder}; they take {size_text(used)}."

    def path(self, digest: str) -> Path:
        """Return the path of a content, stored or not.

        Raises:
            ValueError: the digest is not a SHA-256 in lower-case hexadecimal.
        """
        if not _DIGEST.fullmatch(digest):
            raise ValueError(f"{digest!r} is not a SHA-256 in lower-case hex.")
        return self.folder / digest[:2] / digest[2:]

    def exists(self, digest: str) -> bool:
        """Return whether a content is stored."""
        return self.path(digest).is_file()

    def open(self, digest: str) -> BinaryIO:
        """Open a content for reading.

        Raises:
            FileNotFoundError: it is not stored.
        """
        return self.path(digest).open("rb")

    def digests(self, *, older_than: float | None = None) -> Iterator[str]:
        """Yield the digests of stored contents, in no order; only those from before `older_than` (epoch seconds)."""
        for entry in self._entries():
            with suppress(FileNotFoundError):
                if older_than is None or entry.stat().st_mtime < older_than:
                    yield Path(entry.path).parent.name + entry.name

    def remove(self, digests: Iterable[str], *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
        """Remove contents that no row refers to; return how many, and their bytes.

        Those stored or renewed within `grace_seconds` stay: their row may not be committed yet.
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

    def shrink(self, limit_bytes: int, *, grace_seconds: float = GRACE_SECONDS) -> int:
        """Remove the least recently used contents until the rest fits; return how many bytes are left.

        For a folder that is a cache. Contents used within `grace_seconds` stay in any case.
        """
        found = []
        for entry in self._entries():
            with suppress(FileNotFoundError):
                status = entry.stat()
                found.append((status.st_mtime, status.st_size, Path(entry.path).parent.name + entry.name))
        left = sum(size for _, size, _ in found)
        young = time.time() - grace_seconds
        for used_at, _, digest in sorted(found):
            if left <= limit_bytes or used_at >= young:
                break
            left -= self.remove([digest], grace_seconds=grace_seconds)[1]
        return left

    def sweep_parts(self, *, grace_seconds: float = 24 * GRACE_SECONDS) -> int:
        """Remove partial files of dead writers; return how many."""
        removed = 0
        if self._temporary.is_dir():
            for part in self._temporary.iterdir():
                with suppress(FileNotFoundError):
                    if part.stat().st_mtime < time.time() - grace_seconds:
                        part.unlink()
                        removed += 1
        return removed

    def used_bytes(self) -> int:
        """Return the size of all contents together."""
        if self._used is None:
            used = 0
            for entry in self._entries():
                with suppress(FileNotFoundError):
                    used += entry.stat().st_size
            self._used = used
        return self._used

    def _take(self, file: BinaryIO, hash_more: Callable[[bytes], None], chunk: bytes, size: int) -> None:
        self._reserve(size)
        hash_more(chunk)
        file.write(chunk)

    def _reserve(self, size: int) -> None:
        if self.quota_bytes is not None and self.used_bytes() + size > self.quota_bytes:
            raise QuotaExceededError(size, self.used_bytes(), self.quota_bytes)

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
                sync_file(file)
            name = digest.hexdigest()
            self._settle(part, name, size)
        finally:
            part.unlink(missing_ok=True)
        return name, size

    def _new_part(self) -> Path:
        self._temporary.mkdir(parents=True, exist_ok=True, mode=0o700)
        return self._temporary / secrets.token_hex(16)

    def _settle(self, part: Path, digest: str, size: int) -> None:
        """Rename a written file to its digest; if the content is already stored, only renew its timestamp."""
        target = self.path(digest)
        with self._locked(exclusive=False):
            try:
                os.utime(target)
            except FileNotFoundError:
                if not target.parent.is_dir():
                    target.parent.mkdir(exist_ok=True, mode=0o700)
                    sync_folder(self.folder)
                part.replace(target)
                sync_folder(target.parent)
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
