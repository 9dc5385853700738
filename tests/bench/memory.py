"""Defaults of a caller with 10,000 remembered outcomes: at hand, after one more, after a start, and from nothing; and
what it takes to remember a run."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from pydantic import BaseModel

from catalog.memory.audit_memory import Memory
from catalog.memory.defaults import DefaultsCache
from packline import PackContext, pack
from runner.secrets.redaction import Redactor
from runner.secrets.vault_sync import VaultSync
from store.access.callers import ensure_caller
from store.database.dialects import Sql
from store.database.engine import open_store
from store.database.ids import new_id
from store.memory.entries import place_of
from store.memory.state import note_change
from store.secrets.vault_key import KeyFile
from tests.bench.figures import Figure
from tests.support.engine import laboratory, step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from store.database.dialects import Connection
    from store.secrets.cipher import Cipher
    from tests.bench.figures import Counts

#: Steps of each run that is remembered.
STEPS = 5
_INSERT = Sql(
    """INSERT INTO memory_entry (id, caller_id, kind, target, run_id, step_id, at, outcome, duration_seconds, sealed,
        revision, expires_at)
    VALUES (:id, :caller_id, 'pack', :target, :run_id, '', :at, 'succeeded', 1.0, :sealed, :revision, :expires_at)"""
)
_REVISION = Sql("UPDATE memory_state SET revision = :revision WHERE caller_id = :caller_id")


def add(conn: Connection, caller_id: str, cipher: Cipher, numbers: Sequence[int], revision: int) -> None:
    """Remembers successes of twenty packs, each with two learned values."""
    now = datetime.now(UTC)
    rows = []
    for number in numbers:
        run_id = new_id("run")
        text = f'{{"persona":"reader {number % 7}","theme":"theme {number % 3}"}}'
        rows.append(
            {
                "id": new_id("mem"),
                "caller_id": caller_id,
                "target": f"area.verb{number % 20}",
                "run_id": run_id,
                "at": now - timedelta(minutes=number),
                "sealed": cipher.seal(text, place_of(caller_id, run_id, "")),
                "revision": revision,
                "expires_at": now + timedelta(days=30),
            }
        )
    note_change(conn, caller_id)
    conn.many(_INSERT, rows)
    conn.run(_REVISION, {"revision": revision, "caller_id": caller_id})


class Said(BaseModel):
    """Input and output of the pack."""

    text: str
    persona: str = ""


@pack(name="bench.say", version="1.0.0", effects="none", repeatable=True)
async def say(context: PackContext, given: Said) -> Said:
    """Says it again."""
    return given


async def remembered(folder: Path, runs: int) -> Figure:
    """CPU that a run costs memory, beside the engine: its rows read, sealed and written."""
    steps = [step(f"s{number}", "bench.say", text="a", persona="executive") for number in range(STEPS)]
    async with laboratory(folder, [say]) as lab:
        keeper = VaultSync(lab.store, KeyFile(folder), Redactor())
        await keeper.start()
        try:
            await keeper.for_sealing()
            kept = Memory(lab.store, keeper, Redactor(), keep_days=30)
            for number in range(runs):
                await lab.run(steps, {"text": str(number)})
            began = time.process_time()
            await kept.catch_up()
            cpu = time.process_time() - began
        finally:
            await keeper.stop()
    return Figure("memory", f"CPU to remember a run of {STEPS} steps", cpu / runs * 1000, "ms", None)


async def memory(folder: Path, counts: Counts) -> list[Figure]:
    """Milliseconds that defaults take."""
    rows = counts.of(10_000, 100)
    store = await open_store("sqlite", folder, migrate=True)
    redactor = Redactor()
    keeper = VaultSync(store, KeyFile(folder), redactor)
    await keeper.start()
    try:
        cipher = (await keeper.for_sealing()).cipher
        kept = Memory(store, keeper, redactor, keep_days=30)
        caller_id = (await store.write(ensure_caller, "ada", "Ada")).id
        await store.write(add, caller_id, cipher, range(rows), 1)
        cache = DefaultsCache(store, kept)
        nothing = await _seconds(cache, caller_id)
        starts, cpu = [], []
        for _ in range(counts.of(20)):
            began = time.process_time()
            starts.append(await _seconds(DefaultsCache(store, kept), caller_id))
            cpu.append(time.process_time() - began)
        at_hand = statistics.median([await _seconds(cache, caller_id) for _ in range(counts.of(50))])
        after = []
        for number in range(counts.of(20)):
            await store.write(add, caller_id, cipher, [number], 2 + number)
            after.append(await _seconds(cache, caller_id))
    finally:
        await keeper.stop()
        await store.close()
    return [
        Figure("memory", f"defaults from {rows:,} rows, at hand", at_hand * 1000, "ms", 10),
        Figure("memory", "the same after one more outcome", statistics.median(after) * 1000, "ms", 10),
        Figure("memory", "the same, first time after a start", statistics.median(starts) * 1000, "ms", 10),
        Figure("memory", "the same, in CPU time", statistics.median(cpu) * 1000, "ms", 10),
        Figure("memory", "the same, from nothing", nothing * 1000, "ms", None),
        await remembered(folder / "runs", counts.of(200)),
    ]


async def _seconds(cache: DefaultsCache, caller_id: str) -> float:
    began = time.perf_counter()
    found = await cache.of(caller_id)
    took = time.perf_counter() - began
    assert len(found.top("pack")) == 12
    return took
