"""The queue of a shared database: what goes in, who gets it, and what is done about losses and repeats."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from runner.dispatch.queue_dispatcher import QueueDispatcher
from store.database.dialects import Sql
from store.database.postgres_queue import queue_name
from store.database.queue_schema import HORIZON_SECONDS
from store.database.wakes import EVERYTHING, Topic
from store.runs.admission import offer
from store.runs.queue_sweep import sweep_queue
from store.runs.settle import Wait
from store.runs.submit import submit
from store.runs.unit_types import NotClaimed, Refusal
from store.states import AttemptState, RunState
from tests.support.databases import ready_database
from tests.support.engine import QUICK, laboratory, step, until
from tests.support.packs import Workbench
from tests.support.rows import caller
from tests.support.runs import expire_lease, new_run, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime
    from pathlib import Path

    from store.database.engine import Store

pytestmark = pytest.mark.postgres

LEASE = 30.0
JOBS = Sql(
    "SELECT args ->> 'run_id' AS run, queue_name, priority, scheduled_at, status FROM procrastinate_jobs ORDER BY id"
)
LOOPS = Sql("SELECT id FROM procrastinate_workers")
DELETE_JOBS = Sql("DELETE FROM procrastinate_jobs")
DELETE_LOOPS = Sql("DELETE FROM procrastinate_workers")
#: What a worker leaves that dies while a run is delivered to it.
LEAVE = Sql("UPDATE procrastinate_jobs SET status = 'doing', worker_id = :loop")
OLD_LOOP = Sql("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour') RETURNING id")
NEEDS = Sql("UPDATE run SET needs = :needs WHERE id = :id")
END = Sql("UPDATE run SET state = 'cancelled', admitted = :no, ended_at = :now WHERE id = :id")


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[Callable[[], Any]]:
    """Opens one store after another on the same database, as processes have them."""
    from store.database.engine import open_store

    with ready_database() as url:
        async with AsyncExitStack() as stack:

            async def another() -> Store:
                opened = await open_store(url, tmp_path, migrate=False)
                stack.push_async_callback(opened.close)
                return opened

            yield another


@pytest.fixture
async def store(stores: Callable[[], Any]) -> Store:
    opened: Store = await stores()
    return opened


class Taker:
    """A process that takes runs out of the queue and does nothing with them."""

    def __init__(self, store: Store, offers: frozenset[str] = frozenset(), lease_seconds: float = LEASE) -> None:
        assert store.queue is not None
        self.offers = offers
        self.taken: list[str] = []
        self.dispatcher = QueueDispatcher(
            store, store.queue, lanes=4, lease_seconds=lease_seconds, offers=lambda: self.offers
        )

    async def __aenter__(self) -> Taker:
        await self.dispatcher.serve(self._take)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.dispatcher.stop()

    async def _take(self, run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        self.taken.append(run_id)
        return None


async def jobs(store: Store) -> list[Any]:
    return await store.write(lambda conn: conn.all(JOBS))


async def run_with(store: Store, needs: str = "", *, offers: bool = True) -> str:
    ada = await caller(store)
    run_id = (await store.write(submit, new_run(ada.id, needs=needs), queue_limit=1000)).run_id
    if offers:
        await store.write(offer, run_id)
    return run_id


async def queued(store: Store, count: int) -> list[Any]:
    """The rows of the queue once there are so many."""
    found: list[Any] = []

    async def there() -> bool:
        found[:] = await jobs(store)
        return len(found) == count

    await until(there)
    return found


async def loops(store: Store, count: int) -> None:
    async def there() -> bool:
        return len(await store.write(lambda conn: conn.all(LOOPS))) == count

    await until(there)


# ------------------------------------------------------------------------------------------------ what goes in


async def test_a_row_is_put_in_for_each_run_and_deleted_when_it_was_delivered(store: Store):
    runs = [await run_with(store) for _ in range(3)]
    assert [(job.run, job.queue_name, job.priority) for job in await queued(store, 3)] == [
        (run_id, queue_name(""), 0) for run_id in runs
    ]
    async with Taker(store) as taker:
        await queued(store, 0)
        assert sorted(taker.taken) == runs


async def test_runs_that_no_worker_may_claim_are_not_put_in(store: Store):
    held, ended, admitted = [await run_with(store, offers=False) for _ in range(3)]
    await working(store, held)
    await store.write(lambda conn: conn.run(END, {"id": ended, "no": False, "now": conn.now()}))
    for run_id in (held, ended, "run_gone", admitted):
        await store.write(offer, run_id)
    assert [job.run for job in await queued(store, 1)] == [admitted]


async def test_a_wait_is_put_in_for_its_end_and_a_long_one_when_its_end_is_near(store: Store):
    short, long = [await run_with(store, offers=False) for _ in range(2)]
    for run_id, seconds in ((short, HORIZON_SECONDS / 2), (long, HORIZON_SECONDS * 2)):
        worker = await working(store, run_id)
        await worker.start()
        await worker.settle(Wait(seconds, "a retry"), AttemptState.FAILED)
    for run_id in (long, short):
        store.wakes.committed([(Topic.RUN_DUE, run_id)])
    (job,) = await queued(store, 1)
    assert (job.run, job.scheduled_at is not None) == (short, True)
    assert (await store.write(sweep_queue, LEASE)).lost == ()
    sooner = Sql("UPDATE run SET not_before = :soon WHERE id = :id")
    await store.write(lambda conn: conn.run(sooner, {"id": long, "soon": conn.later(5)}))
    assert (await store.write(sweep_queue, LEASE)).lost == (long,)


async def test_the_run_of_a_lost_worker_goes_first_though_an_old_row_of_it_is_still_there(store: Store):
    lost, new = [await run_with(store, offers=False) for _ in range(2)]
    await store.write(offer, lost)
    await queued(store, 1)
    await store.write(offer, new)
    await queued(store, 2)
    await (await working(store, lost)).start()
    await expire_lease(store, lost)
    assert (await store.write(sweep_queue, LEASE)).lost == (lost,)
    store.wakes.committed([(Topic.RUN_DUE, lost)])
    assert max(await queued(store, 3), key=lambda job: job.priority).run == lost
    async with Taker(store) as taker:
        await queued(store, 0)
        assert taker.taken[0] == lost


# ------------------------------------------------------------------------------------------------ who gets it


async def test_a_run_goes_to_a_process_that_offers_what_it_needs(stores: Callable[[], Any]):
    first, second = await stores(), await stores()
    async with Taker(first) as plain, Taker(second, frozenset({"chromium", "git"})) as able:
        needy = [await run_with(first, "chromium"), await run_with(first, "chromium,git")]
        await until(lambda: sorted(able.taken) == needy)
        other = await run_with(second, "gpu")
        easy = await run_with(first)
        await until(lambda: easy in plain.taken + able.taken)
        assert set(plain.taken) <= {easy}
        assert [job.run for job in await queued(first, 1)] == [other], "nobody alive offers it"


async def test_needs_that_were_there_before_are_learned_by_a_sweep(stores: Callable[[], Any]):
    first, second = await stores(), await stores()
    run_id = await run_with(first, "chromium")
    await queued(first, 1)
    async with Taker(second, frozenset({"chromium"})) as taker:
        await taker.dispatcher.sweep()
        await until(lambda: taker.taken == [run_id])


async def test_what_a_process_offers_may_change(store: Store):
    async with Taker(store) as taker:
        run_id = await run_with(store, "chromium")
        await queued(store, 1)
        taker.offers = frozenset({"chromium"})
        await taker.dispatcher.sweep()
        await until(lambda: taker.taken == [run_id])


async def test_a_run_that_the_process_lacks_something_for_goes_to_another_one_at_once(stores: Callable[[], Any]):
    """No sweep is needed: what processes offer may have changed while the run was on its way."""
    first, second = await stores(), await stores()
    chromium = frozenset({"chromium"})

    class Lacking(Taker):
        async def _take(self, run_id: str, waited_for: datetime | None) -> NotClaimed | None:
            self.offers, able.offers = frozenset(), chromium
            able.dispatcher.refresh()
            await super()._take(run_id, waited_for)
            return NotClaimed(Refusal.LACKS)

    async with Taker(second) as able, Lacking(first, chromium) as lacking:
        run_id = await run_with(first, "chromium")
        await until(lambda: able.taken == [run_id])
        assert lacking.taken == [run_id]


async def test_a_process_that_begins_to_listen_hears_of_needs_that_were_announced_before(stores: Callable[[], Any]):
    first = await stores()
    async with Taker(first, frozenset({"chromium"})) as taker:
        run_id = await run_with(first, "chromium")
        await until(lambda: taker.taken == [run_id])
    second = await stores()
    async with Taker(second, frozenset({"chromium"})) as newcomer:

        async def taken() -> bool:
            await run_with(first, "chromium")
            return bool(newcomer.taken)

        await until(taken)


async def test_what_was_missed_is_searched_for_at_once(stores: Callable[[], Any], tmp_path: Path):
    store = await stores()
    limits = replace(QUICK, rescue_seconds=3600.0)
    async with laboratory(tmp_path, Workbench().packs, limits=limits, store=store) as lab:
        run_id = await run_with(store, offers=False)
        store.wakes.committed([(Topic.NEEDS, EVERYTHING)])

        async def claimed() -> bool:
            return await lab.state(run_id) is not RunState.QUEUED

        await until(claimed)


async def test_a_row_whose_run_needs_something_else_by_now_is_removed_and_put_in_again(store: Store):
    run_id = await run_with(store, "@gone,chromium")
    await queued(store, 1)
    await store.write(lambda conn: conn.run(NEEDS, {"id": run_id, "needs": "chromium"}))
    swept = await store.write(sweep_queue, LEASE)
    assert (swept.lost, swept.needs) == ((run_id,), frozenset({"chromium"}))
    assert await jobs(store) == []


@pytest.mark.parametrize("needs", ["", "chromium", "@host:0123456789ab:/a/long/path/" + "x" * 200])
def test_the_name_of_a_queue_fits_into_the_name_of_a_channel(needs: str):
    assert len(f"procrastinate_queue_v1#{queue_name(needs)}") <= 63


async def test_a_start_leaves_the_last_lane_to_the_queue(store: Store):
    async with Taker(store) as taker:
        let_go = asyncio.Event()

        async def hold() -> None:
            await let_go.wait()

        for number in range(3):
            assert taker.dispatcher.has_lane()
            taker.dispatcher.occupy(f"run_{number}", hold())
        assert not taker.dispatcher.has_lane()
        run_id = await run_with(store)
        await until(lambda: taker.taken == [run_id])
        let_go.set()
        await until(taker.dispatcher.has_lane)


# ------------------------------------------------------------------------------------------------ losses and repeats


async def test_rows_that_were_deleted_are_put_in_again(store: Store):
    runs = sorted([await run_with(store) for _ in range(5)])
    await queued(store, 5)
    await store.write(lambda conn: conn.run(DELETE_JOBS))
    async with Taker(store) as taker:
        await taker.dispatcher.sweep()
        await until(lambda: sorted(taker.taken) == runs)


async def test_what_is_queued_is_not_put_in_again(store: Store):
    await run_with(store)
    await queued(store, 1)
    assert (await store.write(sweep_queue, LEASE)).lost == ()


async def test_of_two_sweeps_at_a_time_one_finds_what_is_lost(stores: Callable[[], Any]):
    first, second = await stores(), await stores()
    run_id = await run_with(first, offers=False)
    within: list[tuple[str, ...]] = []
    loop = asyncio.get_running_loop()

    def sweeping(conn: Any) -> tuple[str, ...]:
        lost = sweep_queue(conn, LEASE).lost
        other = asyncio.run_coroutine_threadsafe(second.write(sweep_queue, LEASE), loop)
        within.append(other.result(30).lost)
        return lost

    assert await first.write(sweeping) == (run_id,)
    assert within == [()]


async def test_the_delivery_of_a_lost_worker_is_removed_and_its_run_put_in_again(store: Store):
    run_id = await run_with(store)
    await queued(store, 1)
    old = await store.write(lambda conn: conn.one(OLD_LOOP))
    assert old is not None
    await store.write(lambda conn: conn.run(LEAVE, {"loop": old.id}))
    assert (await store.write(sweep_queue, LEASE)).lost == (run_id,)
    assert await jobs(store) == []
    await loops(store, 0)


async def test_a_loop_whose_row_was_removed_is_started_again(store: Store):
    async with Taker(store) as taker:
        await loops(store, 1)
        await store.write(lambda conn: conn.run(DELETE_LOOPS))
        run_id = await run_with(store)
        await until(lambda: taker.taken == [run_id])
        await loops(store, 1)
    await loops(store, 0)


async def test_a_new_loop_begins_when_the_listening_connection_was_lost(store: Store):
    async with Taker(store) as taker:
        await loops(store, 1)
        (before,) = await store.write(lambda conn: conn.all(LOOPS))
        store.wakes.committed([(Topic.NEEDS, EVERYTHING)])

        async def is_new() -> bool:
            now = await store.write(lambda conn: conn.all(LOOPS))
            return len(now) == 1 and now != [before]

        await until(is_new)
        run_id = await run_with(store)
        await until(lambda: taker.taken == [run_id])


# ------------------------------------------------------------------------------------------------ engines


async def test_four_workers_try_each_run_about_once(stores: Callable[[], Any], tmp_path: Path):
    bench = Workbench()
    runs, tries = 100, 0
    limits = replace(QUICK, rescue_seconds=1.0)  # a fifth of the default: each sweep repeats what is on its way
    async with AsyncExitStack() as stack:
        labs = [
            await stack.enter_async_context(laboratory(tmp_path, bench.packs, limits=limits, store=await stores()))
            for _ in range(4)
        ]
        for lab in labs:
            advance = lab.engine.worker.claimer.take

            def counting(*args: Any, advance: Any = advance) -> Any:
                nonlocal tries
                tries += 1
                return advance(*args)

            lab.engine.worker.claimer.take = counting  # type: ignore[method-assign]
        steps = [step("a", "test.echo", text="x")]
        run_ids = await asyncio.gather(*(labs[number % 4].start(steps) for number in range(runs)))
        for run_id in run_ids:
            assert (await labs[0].ended(run_id)).state is RunState.SUCCEEDED
    assert tries <= 1.5 * runs


async def test_a_loop_that_is_started_again_waits_until_a_run_may_be_fetched(store: Store) -> None:
    """It fetches at once, and the worker may be full."""
    asked, gate, taken = asyncio.Semaphore(0), asyncio.Semaphore(1), []

    async def ready() -> None:
        asked.release()
        await gate.acquire()

    async def take(run_id: str) -> None:
        taken.append(run_id)

    assert store.queue is not None
    first = await run_with(store)
    await store.queue.start(take, ready, lambda: [""], LEASE)
    await asked.acquire()
    await until(lambda: taken == [first])
    store.queue.restart()
    await asked.acquire()
    second = await run_with(store)
    await queued(store, 1)
    assert taken == [first]
    gate.release()
    await until(lambda: taken == [first, second])
    await store.queue.stop()


async def test_a_run_that_ends_in_a_full_worker_makes_no_room_while_too_many_are_handled(store: Store) -> None:
    assert store.queue is not None
    dispatcher = QueueDispatcher(store, store.queue, lanes=1, lease_seconds=LEASE)
    ends = [asyncio.Event(), asyncio.Event()]

    async def work(end: asyncio.Event) -> None:
        await end.wait()

    for number, end in enumerate(ends):
        dispatcher.occupy(f"run_{number}", work(end))
    ends[0].set()
    await until(lambda: dispatcher.lanes.free == 0)
    assert not dispatcher._free.is_set()
    ends[1].set()
    await until(lambda: dispatcher.lanes.free == 1)
    assert dispatcher._free.is_set()
