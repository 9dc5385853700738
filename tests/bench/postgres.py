"""The row `postgres`: runs on a PostgreSQL of their own, which commits as durably as it does by default.

A slow disk is simulated by `commit_delay`: the server sleeps before it flushes its log, with the locks of a commit
held, and commits that come meanwhile share the flush.
"""

from __future__ import annotations

import asyncio
import statistics
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg

from store.database.schema import ensure_postgres_schema
from tests.bench.figures import Figure
from tests.bench.peers.compared import TEN_STEPS
from tests.bench.rows import WATCH_TIMES, delays_of, finish_at_once, quantile, timed
from tests.bench.server import pipeline_of, serving, start_run
from tests.support.databases import OwnServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.bench.figures import Counts

#: Milliseconds that a commit takes longer.
_DELAYS = (0, 2, 5)


async def postgres(folder: Path, counts: Counts) -> list[Figure]:
    """Runs of ten steps at once and alone, and how soon their events are seen, also on another server."""
    figures: list[Figure] = []
    with own_database(folder / "pg") as url:
        for delay in _DELAYS:
            await asyncio.to_thread(_delay_commits, url, delay)
            figures += await _measured(url, folder, delay, counts)
    return figures


async def growth(folder: Path, counts: Counts) -> list[Figure]:
    """What a run of ten small steps leaves in PostgreSQL, and what it writes there (docs/scaling.md)."""
    runs = counts.of(1000, 10)
    with own_database(folder / "pg") as url:
        async with serving(folder / "one", {"PACKLINE_DATABASE_URL": url}) as (server, client):
            ten = await pipeline_of(client, "ten", 10)
            await finish_at_once(server, client, ten, counts.of(100, 2))
            before = await asyncio.to_thread(_written, url)
            await finish_at_once(server, client, ten, runs)
        after = await asyncio.to_thread(_written, url)
    each = {name: (after[name] - before[name]) / runs for name in after}
    return [Figure("growth", name, value, "for each run") for name, value in each.items()]


def _written(url: str) -> dict[str, float]:
    """What was written to the database so far, and how large its tables and indexes are."""
    found: dict[str, float] = {}
    with psycopg.connect(url, autocommit=True) as connection:
        for name, statement in (
            ("commits", "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()"),
            ("bytes of log", "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"),
            ("bytes of all tables", "SELECT sum(pg_total_relation_size(relid)) FROM pg_stat_user_tables"),
        ):
            [(found[name],)] = connection.execute(statement.encode()).fetchall()
        for table in ("run", "run_step", "attempt", "run_event", "memory_entry"):
            sizes = connection.execute(b"SELECT pg_total_relation_size(%s::regclass)", (table,))
            [(found[f"bytes of {table}"],)] = sizes.fetchall()
    return {name: float(value) for name, value in found.items()}


async def _measured(url: str, folder: Path, delay: int, counts: Counts) -> list[Figure]:
    runs = counts.of(500, 10)
    settings = {"PACKLINE_DATABASE_URL": url, "PACKLINE_SHARED_STORAGE": "off"}  # a data folder each
    async with serving(folder / "one", settings) as (server, client):
        ten = await pipeline_of(client, f"ten{delay}", 10)
        slow = await pipeline_of(client, f"slow{delay}", counts.of(20, 8), "bench.steady")
        for number in range(counts.of(20)):
            await start_run(client, ten, f"warm {number}", wait=20)
        alone = [await timed(client, ten, f"alone {number}") for number in range(counts.of(60))]
        seconds, _, cpu = await finish_at_once(server, client, ten, runs)
        here, _ = await delays_of(client, slow, WATCH_TIMES, 1)
        async with serving(folder / "two", settings) as (_, other):
            there, _ = await delays_of(client, slow, WATCH_TIMES, 1, watcher=other)
    row = "postgres" if delay == 0 else f"postgres, commit + {delay} ms"
    fast = delay == 0
    return [
        Figure(row, TEN_STEPS, statistics.median(alone) * 1e3, "ms", 20 if fast else None),
        Figure(row, f"{runs} runs x 10 steps at once", runs * 10 / seconds, "steps/s", 690 if fast else None, True),
        Figure(row, "CPU for each step, submit included", cpu / (runs * 10) * 1e3, "ms"),
        Figure(row, "transition to subscriber, p50", quantile(here, 0.5), "ms"),
        Figure(row, "transition to subscriber, p99", quantile(here, 0.99), "ms"),
        Figure(row, "transition to subscriber of another server, p50", quantile(there, 0.5), "ms"),
        Figure(row, "transition to subscriber of another server, p99", quantile(there, 0.99), "ms"),
    ]


@contextmanager
def own_database(folder: Path) -> Iterator[str]:
    """The URL of a database with our tables, on a server of its own."""
    server = OwnServer(folder)
    try:
        ensure_postgres_schema(server.url, migrate=True)
        yield server.url
    finally:
        server.close()


def _delay_commits(url: str, milliseconds: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        # With no siblings asked for, the server sleeps before each flush.
        connection.execute("ALTER SYSTEM SET commit_siblings = 0")
        connection.execute(f"ALTER SYSTEM SET commit_delay = {milliseconds * 1000}".encode())
        connection.execute("SELECT pg_reload_conf()")
