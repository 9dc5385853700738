from __future__ import annotations

import hashlib
import os
import threading
import time
from typing import TYPE_CHECKING

import pytest

from store.files.blob_port import QuotaExceededError, TooLargeError
from store.files.blobs import BlobStore

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def age(blobs: BlobStore, digest: str, seconds: float = 7200) -> None:
    then = time.time() - seconds
    os.utime(blobs.path(digest), (then, then))


async def test_a_content_lies_under_its_digest_once(tmp_path: Path):
    blobs = BlobStore(tmp_path)
    file = tmp_path / "big.bin"
    file.write_bytes(b"x" * 3_000_000)
    assert await blobs.put(b"hello") == (sha(b"hello"), 5)
    assert await blobs.put(b"hello") == (sha(b"hello"), 5)
    assert await blobs.put(file) == (sha(b"x" * 3_000_000), 3_000_000)
    assert await blobs.put(b"") == (sha(b""), 0)
    with blobs.open(sha(b"hello")) as content:
        assert content.read() == b"hello"
    digest = sha(b"hello")
    assert blobs.path(digest) == tmp_path / "blobs" / digest[:2] / digest[2:]
    assert set(blobs.digests()) == {sha(b"hello"), sha(b"x" * 3_000_000), sha(b"")}
    assert list((tmp_path / "blobs" / "tmp").iterdir()) == []
    assert file.exists(), "the file it was put from stays"


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "a" * 63, "", "a" * 62 + "/x"])
def test_only_digests_become_paths(tmp_path: Path, name: str):
    with pytest.raises(ValueError, match="SHA-256"):
        BlobStore(tmp_path).path(name)


async def test_the_quota_counts_contents_once_and_those_of_before(tmp_path: Path):
    await BlobStore(tmp_path).put(b"12345")
    blobs = BlobStore(tmp_path, quota_bytes=10)
    assert blobs.used_bytes() == 5
    await blobs.put(b"12345")
    await blobs.put(b"67890")
    with pytest.raises(QuotaExceededError, match="10 of 10 bytes"):
        await blobs.put(b"x")
    age(blobs, sha(b"12345"))
    assert blobs.remove([sha(b"12345")]) == (1, 5)
    await blobs.put(b"x")


async def test_a_stream_is_cut_off_at_its_limit_and_leaves_nothing(tmp_path: Path):
    blobs = BlobStore(tmp_path)

    async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
        for part in parts:
            yield part

    assert await blobs.put_stream(pieces(b"ab", b"", b"c"), limit_bytes=3) == (sha(b"abc"), 3)
    with pytest.raises(TooLargeError):
        await blobs.put_stream(pieces(b"ab", b"cd"), limit_bytes=3)
    assert set(blobs.digests()) == {sha(b"abc")}
    assert list((tmp_path / "blobs" / "tmp").iterdir()) == []


async def test_a_writer_that_fails_leaves_no_content(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    blobs = BlobStore(tmp_path)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        await blobs.put(b"hello")
    assert not blobs.exists(sha(b"hello"))
    assert list((tmp_path / "blobs" / "tmp").iterdir()) == []


async def test_what_was_put_again_just_now_is_not_removed(tmp_path: Path):
    blobs = BlobStore(tmp_path)
    digest, _ = await blobs.put(b"hello")
    assert blobs.remove([digest]) == (0, 0)
    age(blobs, digest)
    candidates = list(blobs.digests(older_than=time.time() - 3600))
    assert candidates == [digest]
    await blobs.put(b"hello")  # between the look and the removal
    assert blobs.remove(candidates) == (0, 0)
    assert blobs.exists(digest)
    age(blobs, digest)
    assert blobs.remove([digest, sha(b"unknown")]) == (1, 5)


def test_putting_and_removing_at_once_never_loses_what_was_put(tmp_path: Path):
    """Whoever has put a content finds it, however often others remove it because nothing refers to it."""
    blobs = BlobStore(tmp_path)
    digest = sha(b"hello")
    stop = threading.Event()

    def remove() -> None:
        while not stop.is_set():
            if blobs.exists(digest):
                try:
                    age(blobs, digest)
                except FileNotFoundError:
                    continue
                # What the putting side renews between these two lines must survive.
                blobs.remove([digest], grace_seconds=3600)

    remover = threading.Thread(target=remove)
    remover.start()
    try:
        for _ in range(100):
            blobs.put_now(b"hello")
    finally:
        stop.set()
        remover.join()
    blobs.put_now(b"hello")
    assert blobs.exists(digest)


def test_half_written_files_of_dead_writers_are_swept(tmp_path: Path):
    blobs = BlobStore(tmp_path)
    assert blobs.sweep_parts() == 0
    blobs.put_now(b"x")
    part = tmp_path / "blobs" / "tmp" / "dead"
    part.write_bytes(b"half")
    assert blobs.sweep_parts() == 0
    os.utime(part, (0, 0))
    assert blobs.sweep_parts() == 1
