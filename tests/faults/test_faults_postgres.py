"""Workers that share a PostgreSQL: killed, frozen, cut off, deaf."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from runner.watching.bus import Bus
from runner.watching.tail import Batch, Gap, Tails
from store.database.dialects import Sql, libpq_url
from store.database.engine import open_store
from store.database.postgres_writer import PostgresConnection
from store.database.schema import ensure_postgres_schema
from tests.support.databases import OwnServer, ready_database
from tests.support.engine import laboratory, until
from tests.support.engine_process import STEPS, Orders, fault_packs, start_runs
from tests.support.fault_runs import (
    PATIENCE_SECONDS,
    WorkerProcess,
    all_ended,
    check_whole,
    executed,
    executions,
    worker_processes,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from store.database.engine import Store

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(300)]  # eight processes start in one of them

LANES = 6
#: Longer than a busy machine stalls: a worker that loses what it holds to a stall runs more steps twice than the fault
#: explains.
LEASE = 6.0
RESCUE = 0.3
#: How long steps take where a worker must be met while it holds runs, however late this process looks.
SLOW = {"tick_seconds": 0.3}


@asynccontextmanager
async def database(folder: Path) -> AsyncIterator[tuple[str, Store]]:
    """A database, and a store of the test's own on it."""
    with ready_database(starters=True) as url:
        store = await open_store(url, folder, migrate=False)
        try:
            yield url, store
        finally:
            await store.close()


def orders(url: str, folder: Path, **changes: Any) -> Orders:
    limits = {"lanes": LANES, "concurrent_runs": 100, "lease_seconds": LEASE, "rescue_seconds": RESCUE}
    limits |= changes.pop("limits", {})
    return Orders(url, str(folder), limits=limits, **changes)


async def start(store: Store, folder: Path, count: int) -> list[str]:
    """Starts runs from here; no engine of this process takes any."""
    async with laboratory(folder, fault_packs(folder, 0), store=store, start=False) as lab:
        return await start_runs(lab, count)


_TAKEOVERS = Sql(
    "SELECT run_id, at FROM run_event WHERE type = 'run_state' AND before = 'running' AND after = 'running'"
)
_BEGUN = Sql("SELECT run_id, at FROM run_event WHERE type = 'run_state' AND before = 'queued' AND after = 'running'")
_HELD_BY = Sql("SELECT count(*) FROM run WHERE owner LIKE :owner")


async def one(store: Store, statement: Sql, **values: Any) -> Any:
    row = await store.write(lambda conn: conn.one(statement, values))
    assert row is not None
    return row[0]


async def held_by(store: Store, worker: WorkerProcess) -> int:
    """How many runs a worker process holds."""
    return int(await one(store, _HELD_BY, owner=f"%:{worker.pid}:%"))


async def freeze_with_runs(store: Store, worker: WorkerProcess) -> None:
    """Freezes a worker at a moment when it holds runs."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await until(lambda: held_by(store, worker), PATIENCE_SECONDS)
            worker.freeze()
            if await held_by(store, worker):
                return
            worker.thaw()


async def test_the_runs_of_a_killed_worker_go_on_at_the_other(tmp_path: Path):
    runs = 90
    async with database(tmp_path) as (url, store):
        await start(store, tmp_path, runs)  # before anybody works on them, who would be quicker on a busy machine
        with worker_processes(orders(url, tmp_path, **SLOW), orders(url, tmp_path, **SLOW)) as (first, second):
            await asyncio.gather(first.ready(), second.ready())
            await executed(tmp_path, 12)
            await freeze_with_runs(store, first)
            first.kill()
            await all_ended(store)
            takeovers = await store.write(lambda conn: conn.all(_TAKEOVERS))
            assert takeovers, "the killed worker held runs"
            begun = await store.write(lambda conn: conn.all(_BEGUN))
            # The backlog takes the other one three times as long as a lease: 90 runs of five steps in six lanes.
            assert max(at for _, at in takeovers) < max(at for _, at in begun), "it goes before the backlog"
            assert await second.end() == 0
        await check_whole(store, tmp_path, runs, most_repeats=LANES)


async def test_a_frozen_worker_that_comes_back_writes_nothing(tmp_path: Path):
    runs = 40
    async with database(tmp_path) as (url, store):
        await start(store, tmp_path, runs)  # before anybody works on them, who would be quicker on a busy machine
        with worker_processes(orders(url, tmp_path, **SLOW), orders(url, tmp_path, **SLOW)) as (first, second):
            await asyncio.gather(first.ready(), second.ready())
            await executed(tmp_path, 20)
            await freeze_with_runs(store, first)

            async def all_taken_over() -> bool:
                return await held_by(store, first) == 0

            await until(all_taken_over, PATIENCE_SECONDS)
            first.thaw()
            await all_ended(store)
            assert await first.end() == 0, "it lives on"
            assert await second.end() == 0
        await check_whole(store, tmp_path, runs, most_repeats=LANES)


async def test_a_worker_frozen_inside_a_transaction_does_not_hold_its_runs_for_ever(tmp_path: Path):
    runs = 20
    async with database(tmp_path) as (url, store):
        both = orders(url, tmp_path, freeze_in_transaction=True, **SLOW), orders(url, tmp_path, **SLOW)
        await start(store, tmp_path, runs)
        with worker_processes(*both) as (first, second):
            await asyncio.gather(first.ready(), second.ready())
            await executed(tmp_path, 10)
            (tmp_path / "freeze").touch()
            await until((tmp_path / "frozen").exists, PATIENCE_SECONDS)
            await all_ended(store)
            first.thaw()
            assert await first.end() == 0
            assert await second.end() == 0
        await check_whole(store, tmp_path, runs, most_repeats=LANES)


async def test_connections_cut_again_and_again_lose_no_run_and_no_event(tmp_path: Path):
    runs, cuts = 30, 4
    async with database(tmp_path) as (url, store):
        bus = Bus(store)
        tails = Tails(store, bus)

        async def follow(run_id: str) -> list[int]:
            told: list[int] = []
            async for message in tails.follow(run_id):
                assert not isinstance(message, Gap)
                if isinstance(message, Batch):
                    told += [event.sequence for event in message.events]
            return told

        with worker_processes(orders(url, tmp_path), orders(url, tmp_path)) as workers:
            await asyncio.gather(*(worker.ready() for worker in workers))
            run_ids = await start(store, tmp_path, runs)
            following = [asyncio.create_task(follow(run_id)) for run_id in run_ids]
            for number in range(1, cuts + 1):
                await executed(tmp_path, number * 25)
                await asyncio.to_thread(cut_all, url)
            await all_ended(store)
            for told in await asyncio.gather(*following):
                assert told == list(range(1, told[-1] + 1))
            for worker in workers:
                assert await worker.end() == 0
        # A settle whose COMMIT was cut off is looked at again by running its step again.
        await check_whole(store, tmp_path, runs, most_repeats=cuts * 2 * LANES)


def cut_all(url: str) -> None:
    """Terminates every connection to the database but this one."""
    with psycopg.connect(libpq_url(url), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


#: Without it, nobody is notified of a row of the queue.
_UNTRIGGER = Sql("DROP TRIGGER procrastinate_jobs_notify_queue_job_inserted_v1 ON procrastinate_jobs")


async def test_deaf_workers_find_every_run_by_looking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(PostgresConnection, "wake", lambda *_: None)
    runs = 30
    async with database(tmp_path) as (url, store):
        await store.write(lambda conn: conn.run(_UNTRIGGER))
        deaf = orders(url, tmp_path, deaf=True, limits={"rescue_seconds": 0.1})
        with worker_processes(deaf, deaf) as workers:
            await asyncio.gather(*(worker.ready() for worker in workers))
            await start(store, tmp_path, runs)
            await all_ended(store)
        await check_whole(store, tmp_path, runs, most_repeats=0)


async def test_rows_of_the_queue_deleted_again_and_again_lose_no_run(tmp_path: Path):
    runs, deletions = 40, 5
    async with database(tmp_path) as (url, store):
        await start(store, tmp_path, runs)
        with worker_processes(*[orders(url, tmp_path, tick_seconds=0.05)] * 2) as workers:
            await asyncio.gather(*(worker.ready() for worker in workers))
            for number in range(deletions):
                await executed(tmp_path, number * 30)
                await store.write(lambda conn: conn.run(_DELETE_ROWS))
            await all_ended(store)
        await check_whole(store, tmp_path, runs, most_repeats=0)


_DELETE_ROWS = Sql("DELETE FROM procrastinate_jobs")
_REPEAT_ROWS = Sql(
    """
    INSERT INTO procrastinate_jobs (queue_name, task_name, priority, args)
    SELECT queue_name, task_name, priority, args FROM procrastinate_jobs, generate_series(2, :times)
    """
)
_QUEUED = Sql("SELECT count(*) FROM procrastinate_jobs")


async def test_runs_that_are_delivered_fifty_times_are_executed_once(tmp_path: Path):
    runs, times = 30, 50
    async with database(tmp_path) as (url, store):
        await start(store, tmp_path, runs)

        async def queued(count: int) -> bool:
            return await one(store, _QUEUED) == count

        await until(lambda: queued(runs), PATIENCE_SECONDS)
        await store.write(lambda conn: conn.run(_REPEAT_ROWS, {"times": times}))
        assert await queued(runs * times)
        with worker_processes(*[orders(url, tmp_path)] * 3) as workers:
            await asyncio.gather(*(worker.ready() for worker in workers))
            await all_ended(store)
            await until(lambda: queued(0), PATIENCE_SECONDS)
        await check_whole(store, tmp_path, runs, most_repeats=0)


async def test_a_worker_whose_row_in_the_queue_was_removed_while_it_was_frozen_takes_runs_again(tmp_path: Path):
    runs = 20
    async with database(tmp_path) as (url, store):
        await start(store, tmp_path, runs)
        with worker_processes(orders(url, tmp_path, **SLOW), orders(url, tmp_path, **SLOW)) as (first, second):
            await asyncio.gather(first.ready(), second.ready())
            await executed(tmp_path, 20)
            await freeze_with_runs(store, first)

            async def only_one_loop() -> bool:
                return await one(store, _LOOPS) == 1

            await until(only_one_loop, PATIENCE_SECONDS)  # the other's sweep removes that of the frozen one
            await all_ended(store)
            assert await second.end() == 0
            first.thaw()
            await start(store, tmp_path, runs + 10)  # the first twenty are found again
            await all_ended(store)
            assert await first.end() == 0
        await check_whole(store, tmp_path, runs + 10, most_repeats=LANES)


_LOOPS = Sql("SELECT count(*) FROM procrastinate_workers")


async def test_a_database_that_is_stopped_and_started_again_loses_no_run(tmp_path: Path):
    runs = 40
    with tempfile.TemporaryDirectory(prefix="pl", dir="/tmp") as folder:
        server = OwnServer(Path(folder) / "pg")
        try:
            ensure_postgres_schema(server.url, migrate=True)
            store = await open_store(server.url, tmp_path, migrate=False)
            try:
                await start(store, tmp_path, runs)
                slow = orders(server.url, tmp_path, tick_seconds=0.05)
                with worker_processes(slow, slow) as workers:
                    await asyncio.gather(*(worker.ready() for worker in workers))
                    for count in (20, 60):
                        await executed(tmp_path, count)
                        await asyncio.to_thread(server.stop)
                        await asyncio.to_thread(server.start)
                    await all_ended(store)
                    for worker in workers:
                        assert await worker.end() == 0, "it lives on"
                await check_whole(store, tmp_path, runs, most_repeats=2 * 2 * LANES)
            finally:
                await store.close()
        finally:
            server.close()


async def test_eight_workers_never_run_more_of_a_caller_than_it_may(tmp_path: Path):
    runs, limit = 40, 3
    async with database(tmp_path) as (url, store):
        each = orders(url, tmp_path, limits={"concurrent_runs": limit, "lanes": 8})
        with worker_processes(*[each] * 8) as workers:
            await asyncio.gather(*(worker.ready() for worker in workers))
            await start(store, tmp_path, runs)
            await all_ended(store)
        await check_whole(store, tmp_path, runs, most_repeats=0)
        assert max(int(line[3]) for line in executions(tmp_path)) <= limit
        assert len(executions(tmp_path)) == runs * STEPS


async def test_a_stopping_workers_runs_go_on_at_the_other_at_once(tmp_path: Path):
    runs = 20
    async with database(tmp_path) as (url, store):
        patient = {"limits": {"lease_seconds": 600.0, "rescue_seconds": 600.0}, "tick_seconds": 0.05}
        with worker_processes(orders(url, tmp_path, **patient), orders(url, tmp_path, **patient)) as (first, second):
            await asyncio.gather(first.ready(), second.ready())
            await start(store, tmp_path, runs)
            await executed(tmp_path, 15)
            assert await first.end() == 0
            await all_ended(store)
            assert await second.end() == 0
        await check_whole(store, tmp_path, runs, most_repeats=0)
