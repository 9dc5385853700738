"""What every dispatcher promises, on both databases: it delivers the runs that are due, and never more than it may."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runner.dispatch.dispatcher import EmbeddedDispatcher
from runner.dispatch.queue_dispatcher import QueueDispatcher
from store.database.dialects import Sql
from store.runs.admission import UNDER_WAY, offer
from store.runs.claim import Due
from store.runs.unit_types import NotClaimed, Refusal
from tests.support.databases import postgres_store, sqlite_store
from tests.support.engine import until
from tests.support.rows import caller
from tests.support.runs import expire_lease, submitted, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import datetime
    from pathlib import Path

    from runner.dispatch.dispatcher import Dispatcher
    from store.database.engine import Store

LEASE = 30.0
PRIORITY = Sql("UPDATE run SET priority = :priority WHERE id = :id")
WAIT = Sql("UPDATE run SET state = 'waiting', admitted = :no, not_before = :until WHERE id = :id")


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened = sqlite_store(tmp_path) if request.param == "sqlite" else postgres_store(tmp_path)
    async with opened as opened_store:
        yield opened_store


@pytest.fixture
async def make(store: Store) -> AsyncIterator[Callable[..., Dispatcher]]:
    """Makes the dispatcher of the database, which is stopped at the end."""
    made: list[Dispatcher] = []

    def make(lanes: int = 4) -> Dispatcher:
        if store.queue is None:
            made.append(EmbeddedDispatcher(store, lanes=lanes, lease_seconds=LEASE))
        else:
            made.append(QueueDispatcher(store, store.queue, lanes=lanes, lease_seconds=LEASE))
        return made[-1]

    yield make
    for dispatcher in made:
        await dispatcher.stop()
        for task in dispatcher.lanes.tasks:
            task.cancel()


class Handler:
    """Handles runs until it is let go on, run by run; answers as it is given."""

    def __init__(self) -> None:
        self.inside: list[str] = []
        self.calls: list[str] = []
        self.answers: dict[str, list[NotClaimed | None]] = {}
        self.gate = asyncio.Semaphore(0)

    async def __call__(self, run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        self.calls.append(run_id)
        self.inside.append(run_id)
        try:
            await self.gate.acquire()
        finally:
            self.inside.remove(run_id)
        answers = self.answers.get(run_id)
        return answers.pop(0) if answers else None

    def let(self, count: int) -> None:
        for _ in range(count):
            self.gate.release()


async def new_runs(store: Store, count: int) -> list[str]:
    """Runs that are admitted, and that nobody was woken for."""
    ada = await caller(store)
    return [(await submitted(store, ada.id)).run_id for _ in range(count)]


async def offered(store: Store, run_id: str, priority: int = 0) -> None:
    await store.write(lambda conn: conn.run(PRIORITY, {"id": run_id, "priority": priority}))
    await store.write(offer, run_id, priority)


async def test_it_delivers_what_is_offered_once(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    handler.let(10)
    await make().serve(handler)
    runs = await new_runs(store, 5)
    for run_id in runs:
        await offered(store, run_id)
    await until(lambda: len(handler.calls) == 5)
    assert sorted(handler.calls) == sorted(runs)


async def test_it_handles_as_many_at_once_as_it_has_lanes(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    dispatcher = make(lanes=2)
    await dispatcher.serve(handler)
    for run_id in await new_runs(store, 5):
        await offered(store, run_id)
    await until(lambda: len(handler.inside) == 2)
    assert not dispatcher.has_lane()
    for done in range(1, 4):
        handler.let(1)
        await until(lambda done=done: len(handler.calls) == 2 + done)
        assert len(handler.inside) == 2
    handler.let(2)


async def test_what_was_under_way_goes_before_what_is_new(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    dispatcher = make(lanes=1)
    await dispatcher.serve(handler)
    first, *new, old = await new_runs(store, 4)
    await offered(store, first)
    await until(lambda: handler.inside == [first])
    for run_id in new:
        await offered(store, run_id)
    await offered(store, old, UNDER_WAY)
    await eventually_queued(store, 3)
    handler.let(4)
    await until(lambda: len(handler.calls) == 4)
    assert handler.calls == [first, old, *new]


QUEUED = Sql("SELECT count(*) FILTER (WHERE status = 'todo') AS waiting, count(*) AS rows FROM procrastinate_jobs")


async def eventually_queued(store: Store, waiting: int, rows: int | None = None) -> None:
    """Waits until so many wait in the queue of a shared database, with so many rows; a heap has them at once."""

    async def there() -> bool:
        row = await store.write(lambda conn: conn.one(QUEUED))
        return row is not None and row.waiting == waiting and rows in (None, row.rows)

    if store.queue is not None:
        await until(there)


async def test_a_start_occupies_a_lane_and_what_is_delivered_respects_it(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    dispatcher = make(lanes=2)
    assert not dispatcher.has_lane(), "it does not serve yet"
    await dispatcher.serve(handler)
    one, two, three = await new_runs(store, 3)
    assert dispatcher.has_lane()
    dispatcher.occupy(one, handler(one, None))
    await until(lambda: handler.inside == [one])
    await offered(store, two)
    await until(lambda: handler.inside == [one, two])
    await offered(store, three)
    assert not dispatcher.has_lane()
    handler.let(1)
    await until(lambda: handler.calls == [one, two, three])
    handler.let(2)
    await until(lambda: not dispatcher.lanes.tasks)


async def test_a_run_whose_time_has_not_come_is_delivered_again_when_it_has(
    store: Store, make: Callable[..., Dispatcher]
):
    handler = Handler()
    handler.let(2)
    (run_id,) = await new_runs(store, 1)
    handler.answers[run_id] = [NotClaimed(Refusal.LATER, "ada", 0.1), None]
    await make().serve(handler)
    await offered(store, run_id)
    await until(lambda: handler.calls == [run_id, run_id])


async def test_a_wait_ends_at_its_time(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    handler.let(1)
    dispatcher = make()
    await dispatcher.serve(handler)
    (run_id,) = await new_runs(store, 1)
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await store.write(lambda conn: conn.run(WAIT, {"id": run_id, "no": False, "until": conn.later(1.5)}))
    dispatcher.wait_for(Due(run_id, 0, 1.5))
    await until(lambda: handler.calls == [run_id])
    assert loop.time() - begun > 1.4


async def test_a_sweep_delivers_what_no_wake_up_told_of(store: Store, make: Callable[..., Dispatcher]):
    handler = Handler()
    handler.let(10)
    dispatcher = make()
    runs = await new_runs(store, 3)
    lost = await working(store, runs[0])
    await lost.start()
    await expire_lease(store, runs[0])
    await dispatcher.serve(handler)
    await dispatcher.sweep()
    await until(lambda: len(handler.calls) == 3)
    assert sorted(handler.calls) == sorted(runs)


async def test_a_run_offered_while_it_is_handled_is_delivered_again_when_its_handler_returns(
    store: Store, make: Callable[..., Dispatcher]
):
    handler = Handler()
    await make().serve(handler)
    (run_id,) = await new_runs(store, 1)
    await offered(store, run_id)
    await until(lambda: handler.inside == [run_id])
    for _ in range(3):
        await offered(store, run_id)
    await eventually_queued(store, 0, rows=0)
    assert handler.calls == [run_id]
    handler.let(9)
    await until(lambda: len(handler.calls) >= 2)


async def test_a_handler_that_raises_costs_only_its_run(store: Store, make: Callable[..., Dispatcher]):
    done: list[str] = []
    bad, good = await new_runs(store, 2)

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        if run_id == bad:
            raise LookupError
        done.append(run_id)
        return None

    await make(lanes=1).serve(handler)
    await offered(store, bad)
    await offered(store, good)
    await until(lambda: done == [good])


async def test_nothing_is_delivered_before_it_serves_and_after_it_stopped(
    store: Store, make: Callable[..., Dispatcher]
):
    handler = Handler()
    handler.let(10)
    dispatcher = make()
    first, second = await new_runs(store, 2)
    await offered(store, first)
    await dispatcher.serve(handler)
    await until(lambda: handler.calls == [first])
    await dispatcher.stop()
    await dispatcher.stop()
    assert not dispatcher.has_lane()
    await offered(store, second)
    await eventually_queued(store, 1)
    assert handler.calls == [first]


async def test_it_may_stop_before_it_serves(make: Callable[..., Dispatcher]):
    await make().stop()
