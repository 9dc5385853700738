"""The marker by which the processes of a database recognise that they keep contents in one place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from store.database.errors import StorageNotSharedError
from store.files.blob_port import BlobsRefusedError, BlobsUnavailableError
from store.files.blob_rows import record_blob
from store.files.blobs import BlobStore
from store.files.shared_storage import require_shared_storage
from store.maintenance.retention import prune_blobs

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.engine import Store


async def kept_in(store: Store, folder: Path) -> None:
    await require_shared_storage(store, BlobStore(folder), str(folder))


async def test_a_process_finds_the_marker_of_the_first_one_or_is_refused(store: Store, tmp_path: Path) -> None:
    await kept_in(store, tmp_path / "one")
    await kept_in(store, tmp_path / "one")
    with pytest.raises(StorageNotSharedError, match=f"{tmp_path / 'two'} lacks the content [0-9a-f]{{2}}/"):
        await kept_in(store, tmp_path / "two")


async def test_of_processes_that_start_at_once_one_sets_the_marker(store: Store, tmp_path: Path) -> None:
    await asyncio.gather(*(kept_in(store, tmp_path / "one") for _ in range(5)))
    outcomes = await asyncio.gather(
        *(kept_in(store, tmp_path / name) for name in ("one", "two", "three")), return_exceptions=True
    )
    assert [type(outcome) for outcome in outcomes] == [type(None), StorageNotSharedError, StorageNotSharedError]


async def test_pruning_leaves_the_marker(store: Store, tmp_path: Path) -> None:
    await kept_in(store, tmp_path)
    removed, _ = await prune_blobs(store, BlobStore(tmp_path), grace_seconds=-1)
    assert removed == 0
    await kept_in(store, tmp_path)


async def test_a_database_with_artifacts_and_no_marker_is_asked_for_those(store: Store, tmp_path: Path) -> None:
    digest, size = await BlobStore(tmp_path / "old").put(b"an artifact of an earlier release")
    await store.write(lambda conn: record_blob(conn, digest, size, conn.bindable(conn.now())))
    await store.write(lambda conn: record_blob(conn, "0" * 64, 1, conn.bindable(conn.now())))
    with pytest.raises(StorageNotSharedError):
        await kept_in(store, tmp_path / "new")
    await kept_in(store, tmp_path / "old")
    await kept_in(store, tmp_path / "old")


class _Failing(BlobStore):
    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(folder)
        self._error = error

    async def content(self, digest: str) -> object:  # type: ignore[override]
        raise self._error


async def test_a_place_that_refuses_is_no_shared_one_and_one_that_is_away_is_not_judged(
    store: Store, tmp_path: Path
) -> None:
    await kept_in(store, tmp_path)
    refusing = _Failing(tmp_path, BlobsRefusedError("There is no bucket there."))
    with pytest.raises(StorageNotSharedError, match="There is no bucket there"):
        await require_shared_storage(store, refusing, "s3://nowhere")
    await require_shared_storage(store, _Failing(tmp_path, BlobsUnavailableError("It is down.")), "s3://away")
