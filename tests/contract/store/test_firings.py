"""How many firings are kept, and for how long."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select

from store.files.blobs import BlobStore
from store.maintenance.retention import RetentionPolicy, sweep
from store.models.triggers import FIRING
from store.triggers.commands import TriggerText, create_trigger
from store.triggers.firings import FIRINGS_KEPT, FiringOutcome, NewFiring, record_due
from tests.support.rows import caller, id_at, insert, pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store

NOW = datetime.now(UTC).replace(microsecond=0)
_TEXT = TriggerText("Nightly", None, "[]", "{}", "{}", enabled=True, next_at=NOW)


async def trigger(store: Store) -> str:
    ada = await caller(store)
    saved = await pipeline(store, ada.id)
    return await store.write(
        create_trigger, _TEXT, kind="schedule", pipeline_id=saved.pipeline_id, owner_id=ada.id, limit=100
    )


async def kept(store: Store) -> list[str]:
    return list((await store.read(select(FIRING.c.key).order_by(FIRING.c.id))).scalars())


async def test_the_oldest_firings_of_a_trigger_go_when_it_has_too_many(store: Store) -> None:
    trigger_id = await trigger(store)
    at = NOW
    for first in range(0, FIRINGS_KEPT + 100, 100):
        firings = [NewFiring(f"{first + number:05}", FiringOutcome.MISSED) for number in range(100)]
        following = at + timedelta(seconds=1)
        await store.write(record_due, trigger_id, firings, revision=1, seen=at, next_at=following)
        at = following
    assert await kept(store) == [f"{number:05}" for number in range(100, FIRINGS_KEPT + 100)]


async def test_a_firing_is_kept_for_its_days(store: Store, tmp_path: Path) -> None:
    trigger_id = await trigger(store)

    def fire(conn: Connection, key: str, at: datetime) -> None:
        known = {"id": id_at("fire", at), "trigger_id": trigger_id, "key": key, "outcome": "fired", "created_at": at}
        insert(conn, "firing", known)

    await store.write(fire, "old", NOW - timedelta(days=31))
    await store.write(fire, "young", NOW - timedelta(days=29))
    swept = await sweep(store, BlobStore(tmp_path / "files"), RetentionPolicy())
    assert swept.firings == 1
    assert await kept(store) == ["young"]
