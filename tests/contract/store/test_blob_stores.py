"""What every place for contents must do: the data folder and a bucket alike."""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import time
from typing import TYPE_CHECKING

import pytest

from store.files.blob_port import BlobError, BlobsRefusedError, BlobsUnavailableError, QuotaExceededError, TooLargeError
from store.files.blobs import BlobStore
from store.files.blobs_s3 import Bucket, S3Blobs
from tests.support.s3_server import BUCKET, KEY_ID, REGION, SECRET, Fault, S3Server, s3_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from store.files.blob_port import Blobs

BIG = random.Random(1).randbytes(20 << 20)


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


class Place:
    """One place, opened as often as a test likes, and a way to make its contents old."""

    def __init__(self, folder: Path, server: S3Server | None) -> None:
        self.folder = folder
        self.server = server
        self._caches = 0

    def open(self, quota_bytes: int | None = None) -> Blobs:
        if self.server is None:
            return BlobStore(self.folder, quota_bytes)
        self._caches += 1
        return s3(self.server, self.folder / str(self._caches), quota_bytes)

    def age(self, digest: str) -> None:
        if self.server is None:
            os.utime(BlobStore(self.folder).path(digest), (0, 0))
            return
        self.server.objects[f"art/{digest[:2]}/{digest[2:]}"].put_at = time.time() - 90_000
        for path in self.folder.glob(f"*/blobs/{digest[:2]}/{digest[2:]}"):
            os.utime(path, (0, 0))


def s3(server: S3Server, folder: Path, quota_bytes: int | None = None, **other: str) -> S3Blobs:
    given = {"key_id": KEY_ID, "secret": SECRET, "region": REGION, "endpoint": server.endpoint, "name": BUCKET} | other
    return S3Blobs(Bucket(prefix="art", **given), folder, quota_bytes=quota_bytes, cache_bytes=30 << 20)


@pytest.fixture(params=["disk", "s3"])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    if request.param == "disk":
        yield Place(tmp_path, None)
        return
    async with s3_server() as server:
        yield Place(tmp_path, server)


async def whole(blobs: Blobs, digest: str, start: int = 0, end: int | None = None) -> bytes:
    content = await blobs.content(digest)
    try:
        return b"".join([piece async for piece in content.read(start, content.size_bytes if end is None else end)])
    finally:
        await content.close()


async def test_what_is_put_is_found_by_another_server(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(BIG)
    one, other = place.open(), place.open()
    assert await one.put(b"hello") == (sha(b"hello"), 5)
    assert await one.put(b"hello") == (sha(b"hello"), 5)
    assert await one.put(b"") == (sha(b""), 0)
    assert await one.put(file) == (sha(BIG), len(BIG))
    for blobs in (one, other):
        assert await whole(blobs, sha(b"hello")) == b"hello"
        assert await whole(blobs, sha(b"")) == b""
        content = await blobs.content(sha(BIG))
        assert content.size_bytes == len(BIG)
        await content.close()
        assert await whole(blobs, sha(BIG), 5_000_000, 12_000_001) == BIG[5_000_000:12_000_001]
        assert (await blobs.local(sha(BIG))).read_bytes() == BIG
        assert (await blobs.local(sha(b"hello"))).read_bytes() == b"hello"
    if place.server is not None:
        assert set(place.server.objects) == {f"art/{d[:2]}/{d[2:]}" for d in (sha(b"hello"), sha(b""), sha(BIG))}
        assert place.server.largest_request <= 8 << 20, "a large content goes in parts"
        assert place.server.uploads == {}


async def test_pieces_are_small(place: Place) -> None:
    blobs = place.open()
    digest, _ = await blobs.put(BIG)
    content = await blobs.content(digest)
    assert max([len(piece) async for piece in content.read(0, len(BIG))]) <= 256 * 1024
    await content.close()


async def test_what_is_not_there_is_told(place: Place) -> None:
    blobs = place.open()
    with pytest.raises(FileNotFoundError):
        await blobs.content(sha(b"never"))
    with pytest.raises(FileNotFoundError):
        await blobs.local(sha(b"never"))
    for name in ("../../etc/passwd", "A" * 64, "a" * 63, "", "a" * 62 + "/x"):
        with pytest.raises(ValueError, match="SHA-256"):
            await blobs.local(name)
        with pytest.raises(ValueError, match="SHA-256"):
            await blobs.content(name)


async def test_a_stream_is_kept_whole_or_not_at_all(place: Place) -> None:
    blobs = place.open()
    assert await blobs.put_stream(pieces(b"ab", b"", b"c"), limit_bytes=3) == (sha(b"abc"), 3)
    with pytest.raises(TooLargeError):
        await blobs.put_stream(pieces(b"ab", b"cd"), limit_bytes=3)

    async def cut_off() -> AsyncIterator[bytes]:
        yield b"ab"
        raise ConnectionError("gone")

    with pytest.raises(ConnectionError):
        await blobs.put_stream(cut_off(), limit_bytes=100)
    assert await blobs.put_before(time.time() + 60) == [sha(b"abc")]
    assert [path for path in place.folder.rglob("tmp/*")] == []


async def test_the_quota_counts_contents_once_and_those_of_before(place: Place) -> None:
    await place.open().put(b"12345")
    blobs = place.open(quota_bytes=10)
    await blobs.put(b"12345")
    await blobs.put(b"67890")
    for put in (lambda: blobs.put(b"x"), lambda: blobs.put_stream(pieces(b"x"), limit_bytes=5)):
        with pytest.raises(QuotaExceededError, match="10 of 10 bytes"):
            await put()
    place.age(sha(b"12345"))
    assert await blobs.discard([sha(b"12345")]) == (1, 5)
    await blobs.put(b"x")


async def test_only_what_is_old_is_discarded(place: Place) -> None:
    blobs = place.open()
    old, young = (await blobs.put(b"old"))[0], (await blobs.put(b"young"))[0]
    place.age(old)
    hour_ago = time.time() - 3600
    assert await blobs.put_before(hour_ago) == [old]
    assert await blobs.discard([young]) == (0, 0)
    await blobs.put(b"old")  # between the look and the removal
    assert await blobs.discard([old]) == (0, 0)
    place.age(old)
    assert await blobs.discard([old, sha(b"unknown")]) == (1, 3)
    with pytest.raises(FileNotFoundError):
        await blobs.content(old)
    await blobs.tidy()
    assert await whole(blobs, young) == b"young"


async def test_what_is_kept_once_more_is_young_again(place: Place) -> None:
    blobs = place.open()
    digest, _ = await blobs.put(b"once more")
    place.age(digest)
    assert (await place.open().keep(digest)).read_bytes() == b"once more"
    assert await blobs.discard([digest]) == (0, 0)
    with pytest.raises(FileNotFoundError):
        await blobs.keep(sha(b"never put"))


async def test_many_at_once_and_long_lists(place: Place) -> None:
    blobs = place.open()
    contents = [f"content {number % 7}".encode() for number in range(40)]
    await asyncio.gather(*(blobs.put(content) for content in contents))
    assert set(await blobs.put_before(time.time() + 60)) == {sha(content) for content in contents}
    found = await asyncio.gather(*(place.open().local(sha(content)) for content in contents))
    assert [path.read_bytes() for path in found] == contents


async def test_it_says_how_it_is(place: Place) -> None:
    blobs = place.open()
    await blobs.put(b"12345")
    assert "take 5 bytes" in await blobs.check()
    assert await blobs.put_before(time.time() + 60) == [sha(b"12345")], "the probe is gone"


# ------------------------------------------------------------------------------------------ a bucket's own


@pytest.fixture
async def server() -> AsyncIterator[S3Server]:
    async with s3_server() as running:
        yield running


@pytest.mark.parametrize("status", [503, 500, 0])
async def test_short_faults_are_borne(server: S3Server, tmp_path: Path, status: int) -> None:
    server.faults = [Fault(method, status) for method in ("PUT", "GET", "HEAD", "POST")]
    blobs = s3(server, tmp_path / "a")
    digest, _ = await blobs.put(b"hello")
    assert (await s3(server, tmp_path / "b").local(digest)).read_bytes() == b"hello"
    big, _ = await blobs.put(BIG)
    server.faults = [Fault("GET", status, times=2)]
    assert await whole(blobs, big) == BIG


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"key_id": "AKIDOTHER"}, "does not let this server .*PACKLINE_ARTIFACT_STORE_KEY_ID"),
        ({"secret": "guessed"}, "does not let this server .*PACKLINE_ARTIFACT_STORE_SECRET"),
        ({"name": "elsewhere"}, "There is no bucket elsewhere.*PACKLINE_ARTIFACT_STORE"),
    ],
)
async def test_wrong_settings_are_told_apart(
    server: S3Server, tmp_path: Path, wrong: dict[str, str], says: str
) -> None:
    blobs = s3(server, tmp_path, **wrong)
    for use in (blobs.check, lambda: blobs.put(b"hello")):
        with pytest.raises(BlobsRefusedError, match=says) as told:
            await use()
        assert SECRET not in str(told.value)
        assert "Debug" not in str(told.value)


async def test_a_content_that_goes_while_it_is_read_is_not_taken_for_a_missing_bucket(
    server: S3Server, tmp_path: Path
) -> None:
    blobs = S3Blobs(
        Bucket(BUCKET, "bucket", server.endpoint, REGION, KEY_ID, SECRET), tmp_path, quota_bytes=None, cache_bytes=10
    )
    digest, size = await blobs.put(b"hello")
    content = await blobs.content(digest)
    server.objects.clear()
    with pytest.raises(FileNotFoundError):
        _ = [part async for part in content.read(0, size)]


async def test_a_service_that_is_away_is_told(
    server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.files.blobs_s3._RETRIES", 0)
    blobs = s3(server, tmp_path)
    digest, _ = await blobs.put(b"hello")
    server.faults = [Fault(method, times=99) for method in ("PUT", "GET", "HEAD")]
    for use in (blobs.check, lambda: blobs.put(b"other"), lambda: blobs.content(digest)):
        with pytest.raises(BlobsUnavailableError, match="now"):
            await use()
    assert (await blobs.local(digest)).read_bytes() == b"hello", "what is here needs no asking"
    gone = s3(server, tmp_path / "b", endpoint="http://127.0.0.1:1")
    with pytest.raises(BlobError, match=r"127\.0\.0\.1:1"):
        await gone.check()


async def test_a_content_that_somebody_changed_is_not_handed_out(server: S3Server, tmp_path: Path) -> None:
    digest, _ = await s3(server, tmp_path / "a").put(b"hello")
    server.objects[f"art/{digest[:2]}/{digest[2:]}"].content = b"HELLO"
    blobs = s3(server, tmp_path / "b")
    with pytest.raises(BlobsRefusedError, match="was changed"):
        await blobs.local(digest)
    assert [path for path in (tmp_path / "b").rglob("*") if path.is_file() and path.name != ".lock"] == []


async def test_the_cache_keeps_within_its_bound(server: S3Server, tmp_path: Path) -> None:
    blobs = S3Blobs(
        Bucket(BUCKET, "art", server.endpoint, REGION, KEY_ID, SECRET), tmp_path, quota_bytes=None, cache_bytes=10
    )
    cache = BlobStore(tmp_path)
    digests = [(await blobs.put(text * 5))[0] for text in (b"a", b"b", b"c")]
    assert set(cache.digests()) == set(digests), "what was used within the hour stays"
    for number, digest in enumerate(digests):
        os.utime(cache.path(digest), (number, number))
    await blobs.local(digests[0])
    await blobs.tidy()
    assert set(cache.digests()) == {digests[0], digests[2]}, "the one used longest ago went"
    server.http.requests.clear()
    assert (await blobs.local(digests[1])).read_bytes() == b"b" * 5
    assert server.methods() == ["HEAD", "GET"]


@pytest.mark.parametrize(
    ("address", "bucket"),
    [("s3://packs", ("packs", "")), ("s3://packs/", ("packs", "")), ("s3://my.packs/a/b/", ("my.packs", "a/b"))],
)
def test_addresses(address: str, bucket: tuple[str, str]) -> None:
    parsed = Bucket.parse(address)
    assert (parsed.name, parsed.prefix) == bucket


@pytest.mark.parametrize("address", ["s3://", "packs", "https://packs", "s3://UP", "s3://a", "s3://packs?x=1"])
def test_addresses_that_are_none(address: str) -> None:
    with pytest.raises(ValueError, match="is not a bucket"):
        Bucket.parse(address)


if TYPE_CHECKING:
    _check: Callable[[S3Blobs], Blobs] = lambda blobs: blobs  # noqa: E731 - the bucket fits the port
