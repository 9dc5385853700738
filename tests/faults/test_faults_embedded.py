"""The embedded server: killed again and again, its disk full."""

from __future__ import annotations

import asyncio
import random
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from store.database.dialects import Sql
from store.database.errors import StoreFullError
from tests.support.databases import prepare_sqlite, sqlite_store
from tests.support.engine import QUICK, laboratory, until
from tests.support.engine_process import STEPS, Orders, fault_packs, start_runs
from tests.support.fault_runs import (
    PATIENCE_SECONDS,
    all_ended,
    check_whole,
    executed,
    executions,
    worker_processes,
)
from tests.support.servers import Fleet, RealServer, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store

LANES = 8
START = """mutation ($key: String!) { runPack(pack: "held.quick", input: {text: $key}, idempotencyKey: $key) {
    ... on StartRunSuccess { replayed run { id } } ... on Problem { message } } }"""
WAIT = "query ($id: ID!) { waitRun(id: $id, waitSeconds: 50) { run { state } } }"


async def test_killed_again_and_again_it_loses_nothing(tmp_path: Path):
    runs, kills = 60, 6

    def orders(submit: int) -> Orders:
        return Orders("sqlite", str(tmp_path), submit=submit, limits={"lanes": LANES, "concurrent_runs": LANES})

    chance = random.Random(3)
    for number in range(1, kills + 1):
        before = len(executions(tmp_path))
        # Some are new each time: those before may all have ended when it is killed, for it does not wait for this.
        with worker_processes(orders(runs * number // kills)) as (worker,):
            await worker.ready()
            await executed(tmp_path, before + chance.randint(1, runs // kills * STEPS))
            worker.kill()
        with closing(sqlite3.connect(tmp_path / "packline.db")) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    with worker_processes(orders(runs)) as (worker,):
        await worker.ready()
        with closing(sqlite3.connect(tmp_path / "packline.db")) as raw:

            def is_done() -> bool:
                rows = raw.execute("SELECT count(*), count(ended_at) FROM run").fetchone()
                return bool(rows == (runs, runs))

            await until(is_done, PATIENCE_SECONDS)
        assert await worker.end() == 0
    async with sqlite_store(tmp_path) as store:
        await check_whole(store, tmp_path, runs, most_repeats=kills * LANES)


async def test_what_a_killed_server_had_answered_is_there_after_its_restart(tmp_path: Path):
    starts = 60
    prepare_sqlite(tmp_path / "one")
    answered: dict[str, str] = {}

    async def begin(server: RealServer, key: str) -> dict[str, Any]:
        return await server.command(START, key=key)

    async def begin_and_note(server: RealServer, key: str) -> None:
        with suppress(httpx2.TransportError):  # it was killed first
            answered[key] = (await begin(server, key))["run"]["id"]

    keys = [f"start {number}" for number in range(starts)]
    async with held_calls() as calls:
        fleet = Fleet(tmp_path, "sqlite", calls)
        try:
            server = await fleet.up("one")
            begun = [asyncio.create_task(begin_and_note(server, key)) for key in keys]
            await eventually(lambda: len(answered) >= starts // 3)
            await server.kill()
            await asyncio.gather(*begun)

            server = await fleet.up("one")
            again = {key: await begin(server, key) for key in keys}
            assert {key: again[key]["run"]["id"] for key in answered} == answered
            assert all(again[key]["replayed"] for key in answered)
            for answer in again.values():
                told = (await server.ask(WAIT, id=answer["run"]["id"]))["waitRun"]
                assert told["run"]["state"] == "SUCCEEDED"
            assert (await server.ask("{ runs { totalCount } }"))["runs"]["totalCount"] == starts, (
                "each start is one run"
            )
        finally:
            await fleet.down()


async def test_a_full_disk_holds_runs_up_and_loses_nothing(tmp_path: Path):
    runs, rounds = 20, 3
    limits = replace(QUICK, lease_seconds=0.5, rescue_seconds=0.1)
    async with laboratory(tmp_path, fault_packs(tmp_path, 0.05), limits=limits) as lab:
        await start_runs(lab, runs)
        for number in range(rounds):
            await limit_pages(lab.store, 1 << 20)  # there is space again, or none of these would ever be reached
            await executed(tmp_path, number * 10)
            await limit_pages(lab.store, 40)
            with pytest.raises(StoreFullError):
                await fill(lab.store, number)
            await until(lambda: not lab.engine.worker._active, PATIENCE_SECONDS)
        assert len({(line[0], line[1]) for line in executions(tmp_path)}) < runs * STEPS, "it held them up"
        await limit_pages(lab.store, 1 << 20)
        await all_ended(lab.store)
        # What ran while nothing could be recorded ran again; that it was recorded once is what counts.
        await check_whole(lab.store, tmp_path, runs, most_repeats=1 << 20)


async def limit_pages(store: Store, more: int) -> None:
    """Lets the database grow by so many pages and no further, as a full disk would."""

    def unit(conn: Connection) -> None:
        row = conn.one(Sql("PRAGMA page_count"))
        assert row is not None
        conn.one(Sql(f"PRAGMA max_page_count = {row[0] + more}"))

    await store.write(unit)


async def fill(store: Store, number: int) -> None:
    """Writes until the disk is full."""
    big = Sql("INSERT INTO cache_entry SELECT id, 'p', :key, :value, created_at, created_at FROM caller")
    for count in range(10_000):
        values = {"key": f"{number} {count}", "value": "x" * 3000}
        await store.write(lambda conn, values=values: conn.run(big, values))
