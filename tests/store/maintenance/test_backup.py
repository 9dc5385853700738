from __future__ import annotations

import asyncio
import io
import json
import os
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from store.database.engine import open_store
from store.database.revisions import head_revision
from store.files.blobs import BlobStore
from store.maintenance.backup import BackupError, back_up, restore
from tests.contract.store.test_artifacts import artifact
from tests.support.databases import DATABASE, sqlite_store
from tests.support.rows import caller, pipeline

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
async def archive(tmp_path: Path) -> Path:
    """A backup taken while the store was open and written to."""
    data = tmp_path / "data"
    async with sqlite_store(data) as store:
        ada = await caller(store)
        digest, size = await BlobStore(data).put(b"the deck")
        await artifact(store, ada.id, digest=digest, size_bytes=size)
        await artifact(store, ada.id, digest="f" * 64)
        (data / "vault.key").write_text("key")
        writes = asyncio.gather(*(pipeline(store, ada.id, f"p{n}") for n in range(50)))
        made = await asyncio.to_thread(back_up, data, tmp_path / "one.tar", files=["vault.key", "absent"])
        await writes
    assert made.revision == head_revision()
    assert made.missing == ("f" * 64,)
    assert set(made.files) == {"vault.key"}
    return tmp_path / "one.tar"


async def test_what_is_restored_is_what_was_backed_up(archive: Path, tmp_path: Path):
    target = tmp_path / "elsewhere" / "data"
    manifest = restore(archive, target)
    assert (target / "vault.key").read_text() == "key"
    assert BlobStore(target).path(manifest.blobs[0]).read_bytes() == b"the deck"
    store = await open_store("sqlite", target, migrate=False)
    assert (await caller(store)).subject == "ada"
    await store.close()
    assert sorted(os.listdir(target.parent)) == ["data"]


def test_only_its_owner_can_read_an_archive(archive: Path):
    assert archive.stat().st_mode & 0o077 == 0


def test_neither_overwrites_anything(archive: Path, tmp_path: Path):
    with pytest.raises(BackupError, match="exists"):
        back_up(tmp_path / "data", archive)
    with pytest.raises(BackupError, match="not empty"):
        restore(archive, tmp_path / "data")
    with pytest.raises(BackupError, match="no database"):
        back_up(tmp_path / "nowhere", tmp_path / "two.tar")


def test_an_empty_folder_is_kept_since_it_may_be_a_volume_or_lie_in_a_closed_folder(archive: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir(mode=0o700)
    before = (tmp_path / "empty").stat()
    restore(archive, tmp_path / "empty")
    after = (tmp_path / "empty").stat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert sorted(os.listdir(tmp_path / "empty")) == ["blobs", DATABASE, "vault.key"]


def test_a_folder_that_cannot_be_made_is_said(archive: Path, tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(BackupError, match="could not be restored"):
        restore(archive, tmp_path / "file" / "data")


def changed(archive: Path, target: Path, name: str, content: bytes | None, *, called: str | None = None) -> Path:
    """A copy of an archive with one member replaced, renamed, or left out."""
    with tarfile.open(archive) as source, tarfile.open(target, "w") as copy:
        for member in source:
            data = source.extractfile(member).read()  # type: ignore[union-attr]
            if member.name == name:
                if content is None:
                    continue
                data = content
                member.name = called or name
                member.size = len(data)
            copy.addfile(member, io.BytesIO(data))
    return target


def test_a_damaged_or_foreign_archive_leaves_no_folder(archive: Path, tmp_path: Path):
    target = tmp_path / "target"
    manifest = _plain(archive)
    (digest,) = manifest["blobs"]
    newer = json.dumps({**manifest, "revision": "9999"}).encode()
    outside = json.dumps({**manifest, "files": {"../evil": "0" * 64}}).encode()
    cases = {
        "damaged": changed(archive, tmp_path / "a.tar", f"blobs/{digest}", b"another deck"),
        "lacks": changed(archive, tmp_path / "b.tar", f"blobs/{digest}", None),
        "does not name": changed(archive, tmp_path / "c.tar", f"blobs/{digest}", b"x", called="../../evil"),
        "newer|release": changed(archive, tmp_path / "d.tar", "manifest.json", newer),
        "not plain": changed(archive, tmp_path / "e.tar", "manifest.json", outside),
        "no manifest": changed(archive, tmp_path / "f.tar", "manifest.json", None),
        "could not be restored": tmp_path / "g.tar",
    }
    (tmp_path / "g.tar").write_bytes(b"no tar at all" * 100)
    for message, broken in cases.items():
        with pytest.raises(BackupError, match=message):
            restore(broken, target)
        assert not target.exists()
    assert not (tmp_path.parent / "evil").exists()
    assert not list(tmp_path.glob(".packline*"))


def _plain(archive: Path) -> dict[str, Any]:
    with tarfile.open(archive) as source:
        return dict(json.loads(source.extractfile("manifest.json").read()))  # type: ignore[union-attr]
