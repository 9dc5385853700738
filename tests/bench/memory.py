"""Defaults of a caller with 10,000 remembered outcomes: at hand, after one more, after a start, and from nothing."""

from __future__ import annotations

import statistics
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from catalog.defaults import DefaultsBook
from catalog.memory import Memory
from runner.redaction import Redactor
from runner.vault_keeper import VaultKeeper
from store.callers import ensure_caller
from store.dialects import Sql
from store.engine import open_store
from store.ids import new_id
from store.memory import note_change, place_of
from store.vault_key import KeyFile
from tests.bench.rows import Figure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from store.dialects import Connection
    from store.vault import Cipher

ROWS = 10_000
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


async def memory(folder: Path) -> list[Figure]:
    """Milliseconds that defaults take."""
    store = await open_store("sqlite", folder, migrate=True)
    redactor = Redactor()
    keeper = VaultKeeper(store, KeyFile(folder), redactor)
    await keeper.start()
    try:
        cipher = (await keeper.for_sealing()).cipher
        kept = Memory(store, keeper, redactor, keep_days=30)
        caller_id = (await store.write(ensure_caller, "ada", "Ada")).id
        await store.write(add, caller_id, cipher, range(ROWS), 1)
        book = DefaultsBook(store, kept)
        nothing = await _seconds(book, caller_id)
        starts, cpu = [], []
        for _ in range(20):
            began = time.process_time()
            starts.append(await _seconds(DefaultsBook(store, kept), caller_id))
            cpu.append(time.process_time() - began)
        at_hand = statistics.median([await _seconds(book, caller_id) for _ in range(50)])
        after = []
        for number in range(20):
            await store.write(add, caller_id, cipher, [number], 2 + number)
            after.append(await _seconds(book, caller_id))
    finally:
        await keeper.stop()
        await store.close()
    return [
        Figure("memory", f"defaults from {ROWS:,} rows, at hand", at_hand * 1000, "ms", 10),
        Figure("memory", "the same after one more outcome", statistics.median(after) * 1000, "ms", 10),
        Figure("memory", "the same, first time after a start", statistics.median(starts) * 1000, "ms", 10),
        Figure("memory", "the same, in CPU time", statistics.median(cpu) * 1000, "ms", 10),
        Figure("memory", "the same, from nothing", nothing * 1000, "ms", None),
    ]


async def _seconds(book: DefaultsBook, caller_id: str) -> float:
    began = time.perf_counter()
    found = await book.of(caller_id)
    took = time.perf_counter() - began
    assert len(found.top("pack")) == 12
    return took
