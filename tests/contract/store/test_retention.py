from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.files.artifacts import erase_artifacts
from store.files.blobs import BlobStore
from store.files.previews import PreviewKind, PreviewRecord, find_previews, save_preview
from store.maintenance.retention import RetentionPolicy, Swept, prune_blobs, prune_runs, sweep
from store.models.artifacts import ARTIFACT, PREVIEW, BlobRow
from store.models.attempt_records import LOG_LINE
from store.models.declaring import table_of
from store.models.runs import ATTEMPT, RUN_STEP, RunEventRow
from store.runs.reads import RunFilter, list_runs
from tests.contract.store.test_artifacts import artifact
from tests.support.heard import Heard
from tests.support.rows import attempt, caller, insert, run, step

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.engine import Store

NOW = datetime.now(UTC)
OLD = NOW - timedelta(days=100)


async def runs_left(store: Store) -> set[str]:
    return {each.id for each in await list_runs(store, RunFilter(), PageWindow(limit=100))}


async def rows_left(store: Store) -> dict[str, int]:
    tables = (RUN_STEP, ATTEMPT, LOG_LINE, table_of(RunEventRow), ARTIFACT, table_of(BlobRow), PREVIEW)
    return {table.name: (await store.read(select(func.count()).select_from(table))).scalar_one() for table in tables}


async def test_old_final_runs_go_with_everything_below_them(store: Store):
    ada = await caller(store)
    old = await run(store, ada.id, OLD)
    under = await attempt(store, old, await step(store, old))
    await store.write(insert, "log_line", dict(attempt_id=under, sequence=1, at=OLD, level="info", text="x"))
    await store.write(insert, "run_event", dict(run_id=old, sequence=1, at=OLD, type="run_state"))
    await artifact(store, ada.id, run_id=old, attempt_id=under)
    pinned = await artifact(store, ada.id, run_id=old, attempt_id=under, pinned=True)
    unfinished = await run(store, ada.id, OLD, 1, state="waiting")
    just_ended = await run(store, ada.id, OLD, 2, ended_at=NOW)
    young = await run(store, ada.id, NOW - timedelta(days=1), rerun_of=old)
    heard = Heard(store)

    assert await store.write(prune_runs, keep_days=90, keep_count=100) == 1
    assert await store.write(prune_runs, keep_days=90, keep_count=100) == 0
    assert await runs_left(store) == {unfinished, just_ended, young}
    assert await rows_left(store) == {
        "run_step": 0,
        "attempt": 0,
        "log_line": 0,
        "run_event": 0,
        "artifact": 1,
        "blob": 0,
        "preview": 0,
    }
    assert (await store.read(select(ARTIFACT.c.id))).all() == [(pinned,)]
    await heard.until((Topic.RUN_DELETED, old))


async def test_beyond_the_number_the_oldest_final_ones_go(store: Store):
    ada = await caller(store)
    made = [await run(store, ada.id, NOW - timedelta(hours=1), number) for number in range(6)]
    stuck = await run(store, ada.id, NOW - timedelta(hours=2), state="running")
    while await store.write(prune_runs, keep_days=90, keep_count=3, limit=2):
        pass
    assert await runs_left(store) == {stuck, *made[3:]}


async def test_what_a_live_run_reuses_stays_until_that_run_goes(store: Store):
    ada = await caller(store)
    origin = await run(store, ada.id, OLD)
    source = await attempt(store, origin, await step(store, origin))
    made = await artifact(store, ada.id, run_id=origin, attempt_id=source)
    again = await run(store, ada.id, NOW - timedelta(days=1))
    await attempt(store, again, await step(store, again), reused_from=source)
    assert await store.write(prune_runs, keep_days=90, keep_count=100) == 1
    assert (await store.read(select(ARTIFACT.c.id))).all() == [(made,)]
    assert await store.write(prune_runs, keep_days=0, keep_count=100) == 1
    assert (await rows_left(store))["artifact"] == 0


async def test_contents_without_an_artifact_are_pruned_and_others_not(store: Store, tmp_path: Path):
    ada = await caller(store)
    blobs = BlobStore(tmp_path / "files")
    used, _ = await blobs.put(b"used")
    erased, _ = await blobs.put(b"erased")
    unknown, _ = await blobs.put(b"unknown")
    fresh, _ = await blobs.put(b"fresh")
    await artifact(store, ada.id, digest=used)
    await artifact(store, ada.id, digest=erased, erased_at=NOW)
    for digest in (used, erased):
        await store.write(insert, "blob", dict(digest=digest, size_bytes=4, created_at=NOW))
    for digest in (used, erased, unknown):
        os.utime(blobs.path(digest), (0, 0))
    assert await prune_blobs(store, blobs) == (2, len(b"erased") + len(b"unknown"))
    assert set(blobs.digests()) == {used, fresh}
    assert (await rows_left(store))["blob"] == 1


async def test_previews_live_as_long_as_what_they_show(store: Store, tmp_path: Path):
    ada = await caller(store)
    blobs = BlobStore(tmp_path / "files")
    shown, size = await blobs.put(b"a picture")
    small, small_size = await blobs.put(b"smaller")
    kept = await artifact(store, ada.id, digest=shown)
    await store.write(insert, "blob", dict(digest=shown, size_bytes=size, created_at=NOW))
    preview = PreviewRecord(shown, PreviewKind.PICTURE, small, "image/webp", width=3, peaks=(0.5, 1.0), reason="r")
    await store.write(save_preview, preview, image_bytes=small_size)
    await store.write(save_preview, PreviewRecord(shown, PreviewKind.NONE))
    assert await find_previews(store, [shown, small]) == {shown: preview}, "the first one stands"
    for digest in (shown, small):
        os.utime(blobs.path(digest), (0, 0))
    assert await prune_blobs(store, blobs) == (0, 0)
    await store.write(erase_artifacts, [kept])
    await prune_blobs(store, blobs)
    await prune_blobs(store, blobs)  # whichever of the two was looked at first
    assert set(blobs.digests()) == set()
    left = await rows_left(store)
    assert (left["preview"], left["blob"]) == (0, 0)
    await store.write(save_preview, preview, image_bytes=small_size)
    assert (await rows_left(store))["preview"] == 0, "of a content that has gone there is none"


async def test_a_sweep_goes_on_until_nothing_is_left(store: Store, tmp_path: Path):
    ada = await caller(store)
    await asyncio.gather(*(run(store, ada.id, OLD, number) for number in range(45)))
    swept = await sweep(store, BlobStore(tmp_path / "files"), RetentionPolicy())
    assert swept == Swept(runs=45)
    assert swept + Swept(blobs=2) == Swept(runs=45, blobs=2)
    assert await sweep(store, BlobStore(tmp_path / "files"), RetentionPolicy()) == Swept()
