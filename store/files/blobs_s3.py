"""Contents in an S3 bucket, for servers that share artifacts without sharing a disk (extra `s3`).

The key of a content is `<prefix>/ab/cdef…`, as in `store.files.blobs`. A bounded folder of this machine is the cache:
contents are written and hashed there before they are uploaded, and libraries that read files find them there. A content
appears in the bucket complete or not at all, as S3 guarantees for single and multipart uploads; a lifecycle rule of the
bucket has to remove parts of interrupted uploads.

S3 has no locks. Within this process, storing and removing one content never overlap; but a content that has been unused
for an hour could be removed at the very moment when another server stores it again.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from store.files.blob_port import (
    GRACE_SECONDS,
    BlobsRefusedError,
    BlobsUnavailableError,
    QuotaExceededError,
    size_text,
)
from store.files.blobs import BlobStore

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from obstore.store import S3Config, S3Store

#: Bytes read from the bucket at a time, which is the most that a reader has in memory.
_CHUNK = 4 << 20
_PIECE = 256 * 1024
#: Parts of an upload that are sent at the same time, 8 MiB each.
_PARTS_AT_ONCE = 3
_PART = 8 << 20
_LISTED_AT_ONCE = 1000
_RETRIES = 4
_RETRY_SECONDS = 30
_KEY = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True)
class Bucket:
    """The address of a bucket, with credentials.

    Attributes:
        prefix: Folder in the bucket, without leading and trailing slashes; may be empty.
        endpoint: Address of a service other than Amazon's, such as `https://minio.example:9000`.
        key_id: With `secret`; None to use the AWS_ variables or the machine's role.
    """

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str = "us-east-1"
    key_id: str | None = None
    secret: str | None = None

    @classmethod
    def parse(cls, address: str) -> Bucket:
        """Parse an address such as `s3://bucket/folder`.

        Raises:
            ValueError: it is malformed.
        """
        parts = urlsplit(address)
        if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
            raise ValueError(f"`{address}` is not a bucket: write it as s3://bucket or s3://bucket/folder")
        return cls(parts.netloc, parts.path.strip("/"))

    def __str__(self) -> str:
        """Return the address as settings have it, with the service."""
        place = f"s3://{self.name}/{self.prefix}".rstrip("/")
        return f"{place} at {self.endpoint}" if self.endpoint else place


class S3Blobs:
    """Implements `store.files.blob_port.Blobs` with a bucket."""

    def __init__(self, bucket: Bucket, cache_dir: Path, *, quota_bytes: int | None, cache_bytes: int) -> None:
        """Set up the bucket, without a request to it.

        Args:
            bucket: The bucket.
            cache_dir: The cache folder; made when needed, and may be removed while no server runs.
            quota_bytes: Limit of all contents together; None for no limit. Contents of other servers are counted by
                each `put_before`.
            cache_bytes: Limit of the cache folder. Contents used within the last hour stay beyond it.

        Raises:
            BlobsRefusedError: the extra `s3` is not installed.
        """
        self.bucket = bucket
        self._quota_bytes = quota_bytes
        self._cache_bytes = cache_bytes
        self._cache = BlobStore(cache_dir)
        self._store = _connect(bucket)
        self._used: int | None = None
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def put(self, content: bytes | Path) -> tuple[str, int]:
        """Store a content in the cache, then in the bucket."""
        digest, size = await self._cache.put(content)
        await self._keep(digest, size)
        return digest, size

    async def keep(self, digest: str) -> Path:
        """Renew the timestamp of a content in the bucket; return its file in the cache."""
        path = await self.local(digest)
        await self._keep(digest, (await asyncio.to_thread(path.stat)).st_size)
        return path

    async def put_stream(self, chunks: AsyncIterable[bytes], *, limit_bytes: int) -> tuple[str, int]:
        """Store a content that arrives in chunks in the cache, then in the bucket."""
        digest, size = await self._cache.put_stream(chunks, limit_bytes=limit_bytes)
        await self._keep(digest, size)
        return digest, size

    async def content(self, digest: str) -> _Object:
        """Open a content; raises FileNotFoundError when it is not in the bucket."""
        key = _key(digest)
        async with self._asking(f"look for {digest}"):
            found = await _head(self._store, key)
        if found is None:
            raise FileNotFoundError(f"{digest} is not in {self.bucket}")
        return _Object(self, key, found[0])

    async def local(self, digest: str) -> Path:
        """Return the content's file in the cache, fetched if necessary."""
        path = self._cache.path(digest)
        async with self._lock(digest):
            if not await asyncio.to_thread(_touched, path):
                await self._fetch(digest)
        return path

    async def put_before(self, instant: float) -> list[str]:
        """List the digests of contents last stored before an instant, and update the used size."""
        old = []
        used = 0
        async for digest, size, put_at in self._listed():
            used += size
            if put_at < instant:
                old.append(digest)
        self._used = used
        return old

    async def discard(self, digests: Sequence[str], *, grace_seconds: float = GRACE_SECONDS) -> tuple[int, int]:
        """Remove contents that no row refers to, from the cache and the bucket."""
        import obstore

        removed = size = 0
        for digest in digests:
            key = _key(digest)
            async with self._lock(digest), self._asking(f"remove {digest}"):
                found = await _head(self._store, key)
                if found is not None and found[1] < time.time() - grace_seconds:
                    with self._missing_bucket():
                        await obstore.delete_async(self._store, key)
                    removed += 1
                    size += found[0]
        await asyncio.to_thread(self._cache.remove, digests, grace_seconds=grace_seconds)
        if self._used is not None:
            self._used = max(0, self._used - size)
        return removed, size

    async def tidy(self) -> None:
        """Shrink the cache to its limit."""
        await asyncio.to_thread(self._cache.sweep_parts)
        await asyncio.to_thread(self._cache.shrink, self._cache_bytes)

    async def check(self) -> str:
        """List the bucket, and store, read and remove a test object."""
        import obstore

        probe = f"probe/{secrets.token_hex(8)}"
        async with self._asking("use it"):
            with self._missing_bucket():
                await obstore.put_async(self._store, probe, b"packline")
            await obstore.get_range_async(self._store, probe, start=0, end=1)
            await obstore.delete_async(self._store, probe)
        used = await self._used_bytes()
        return f"Contents are stored in {self.bucket}; they take {size_text(used)}."

    async def _keep(self, digest: str, size: int) -> None:
        """Upload a content from the cache, or renew it, so that the next pruning does not remove it."""
        import obstore

        key = _key(digest)
        async with self._lock(digest), self._asking(f"keep {digest}"):
            found = await _head(self._store, key)
            if found is not None and found[1] > time.time() - GRACE_SECONDS / 2:
                return
            if found is None and self._quota_bytes is not None and await self._used_bytes() + size > self._quota_bytes:
                await asyncio.to_thread(self._cache.remove, [digest], grace_seconds=-1.0)
                raise QuotaExceededError(size, await self._used_bytes(), self._quota_bytes)
            path = self._cache.path(digest)
            with self._missing_bucket():
                await obstore.put_async(self._store, key, path, chunk_size=_PART, max_concurrency=_PARTS_AT_ONCE)
            if found is None and self._used is not None:
                self._used += size
        await self._bound()

    async def _fetch(self, digest: str) -> None:
        content = await self.content(digest)
        got, _ = await self._cache.put_stream(content.read(0, content.size_bytes), limit_bytes=content.size_bytes)
        if got != digest:
            await asyncio.to_thread(self._cache.remove, [got], grace_seconds=-1.0)
            raise BlobsRefusedError(f"The content of {digest} in {self.bucket} was changed: its digest is another.")
        await self._bound()

    async def _bound(self) -> None:
        if await asyncio.to_thread(self._cache.used_bytes) > self._cache_bytes:
            await asyncio.to_thread(self._cache.shrink, self._cache_bytes)

    async def _used_bytes(self) -> int:
        if self._used is None:
            self._used = sum([size async for _, size, _ in self._listed()])
        return self._used

    async def _listed(self) -> AsyncIterator[tuple[str, int, float]]:
        """Yield digest, size and time (epoch seconds) of each content."""
        import obstore

        async with self._asking("list what is in it"):
            async for page in obstore.list(self._store, chunk_size=_LISTED_AT_ONCE):
                for entry in page:
                    if (match := _KEY.fullmatch(entry["path"])) is not None:
                        yield match[1] + match[2], entry["size"], entry["last_modified"].timestamp()

    def _lock(self, digest: str) -> asyncio.Lock:
        lock = self._locks.get(digest)
        if lock is None:
            lock = self._locks[digest] = asyncio.Lock()
        return lock

    @asynccontextmanager
    async def _asking(self, what: str) -> AsyncIterator[None]:
        """Convert errors of the service to ours, with the operation, the bucket and what to do."""
        from obstore import exceptions

        try:
            yield
        except (exceptions.PermissionDeniedError, exceptions.UnauthenticatedError) as error:
            raise BlobsRefusedError(
                f"{self.bucket} does not let this server {what}: {_said(error)}. Check PACKLINE_ARTIFACT_STORE_KEY_ID "
                "and PACKLINE_ARTIFACT_STORE_SECRET (or the AWS_ variables), and that they may read, list, write and "
                "delete there."
            ) from error
        except exceptions.BaseError as error:
            raise BlobsUnavailableError(f"{self.bucket} could not {what} now: {_said(error)}.") from error

    @contextmanager
    def _missing_bucket(self) -> Iterator[None]:
        """Read "not found" as a missing bucket, for operations that need no existing object."""
        try:
            yield
        except FileNotFoundError as error:
            raise BlobsRefusedError(
                f"There is no bucket {self.bucket.name} there: create it, or correct PACKLINE_ARTIFACT_STORE, "
                f"PACKLINE_ARTIFACT_STORE_ENDPOINT and PACKLINE_ARTIFACT_STORE_REGION. ({_said(error)})"
            ) from error


class _Object:
    """Implements `store.files.blob_port.Content` with an object of the bucket."""

    def __init__(self, blobs: S3Blobs, key: str, size_bytes: int) -> None:
        self.size_bytes = size_bytes
        self._blobs = blobs
        self._key = key

    async def read(self, start: int, end: int) -> AsyncGenerator[bytes, None]:
        """Yield the bytes from `start` up to `end`, requested some megabytes at a time."""
        import obstore

        while start < end:
            until = min(end, start + _CHUNK)
            async with self._blobs._asking("read a content of it"):
                chunk = bytes(await obstore.get_range_async(self._blobs._store, self._key, start=start, end=until))
            if len(chunk) != until - start:
                raise BlobsUnavailableError("The content became shorter while it was read.")
            for place in range(0, len(chunk), _PIECE):
                yield chunk[place : place + _PIECE]
            start = until

    async def close(self) -> None:
        """Do nothing: nothing is open."""


def _connect(bucket: Bucket) -> S3Store:
    try:
        from obstore.store import S3Store
    except ImportError as error:
        raise BlobsRefusedError(
            "PACKLINE_ARTIFACT_STORE names a bucket, whose library is not installed: `pip install 'packline[s3]'`."
        ) from error
    # One by one: S3-compatible services differ most in how they implement bulk deletes.
    config: dict[str, str] = {"region": bucket.region, "disable_bulk_delete": "true"}
    if bucket.endpoint:
        config["endpoint"] = bucket.endpoint
    if bucket.key_id and bucket.secret:
        config |= {"access_key_id": bucket.key_id, "secret_access_key": bucket.secret}
    return S3Store(
        bucket.name,
        prefix=bucket.prefix or None,
        config=cast("S3Config", config),
        client_options={
            "allow_http": (bucket.endpoint or "").startswith("http://"),
            "connect_timeout": timedelta(seconds=5),
            "timeout": timedelta(seconds=120),
        },
        retry_config={
            "max_retries": _RETRIES,
            "retry_timeout": timedelta(seconds=_RETRY_SECONDS),
            "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=5), "base": 2},
        },
    )


async def _head(store: S3Store, key: str) -> tuple[int, float] | None:
    """Return size and time (epoch seconds) of an object; None when it does not exist."""
    import obstore

    try:
        found = await obstore.head_async(store, key)
    except FileNotFoundError:
        return None
    return found["size"], found["last_modified"].timestamp()


def _key(digest: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{64}", digest):
        raise ValueError(f"{digest!r} is not a SHA-256 in lower-case hex.")
    return f"{digest[:2]}/{digest[2:]}"


def _touched(path: Path) -> bool:
    """Renew a file's timestamp; return whether the file exists."""
    try:
        os.utime(path)
    except FileNotFoundError:
        return False
    return True


def _said(error: BaseException) -> str:
    """Return the service's message in one line: the first paragraph, before the library's debug output."""
    return " ".join(str(error).partition("\n\n")[0].split()).rstrip(".")
