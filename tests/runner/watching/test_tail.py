"""A run's events, followed: no gap, no repeat, in order, whatever is lost on the way."""

from __future__ import annotations

import asyncio
import random
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import pytest

import runner.watching.tail
from runner.watching.bus import Bus
from runner.watching.tail import Batch, End, Gap, Tails
from store.database.dialects import Sql
from store.database.errors import StoreClosedError, StoreError
from store.runs.claim import snapshot
from store.runs.claimed_run import record_progress
from store.runs.commands import delete_run, resume
from store.runs.unit_types import Fail, Resume, ResumeStep, Succeed
from store.states import AttemptState, RunState, StepState
from tests.support.databases import postgres_store, sqlite_store
from tests.support.engine import until
from tests.support.rows import caller
from tests.support.runs import submitted, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from store.database.engine import Store
    from store.database.wakes import Topic
    from store.runs.events import EventRecord
    from tests.support.runs import Worker


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened = sqlite_store(tmp_path) if request.param == "sqlite" else postgres_store(tmp_path)
    async with opened as opened_store:
        yield opened_store


@pytest.fixture(autouse=True)
def quick_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner.watching.tail, "POLL_SECONDS", 0.05)


@pytest.fixture
async def bus(store: Store) -> Bus:
    return Bus(store)


class Deaf:
    """A store that loses a share of its wake-ups."""

    def __init__(self, store: Store, share: float) -> None:
        self.wakes = self
        self.lost = 0
        self._store = store
        self._share = share
        self._chance = random.Random(7)

    def listen(self, topic: Topic, listener: Callable[[str], None], wants: Callable[[str], bool]) -> None:
        def hear(id: str) -> None:
            if self._chance.random() < self._share:
                self.lost += 1
            else:
                listener(id)

        self._store.wakes.listen(topic, hear, wants)


async def run_with_worker(store: Store, steps: int = 2) -> Worker:
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, steps)).run_id)
    await worker.start()
    return worker


async def tell(store: Store, worker: Worker, count: int) -> None:
    for number in range(count):
        await store.write(record_progress, worker.fence, worker.step_id, None, "[]", f'"{number}"')


async def gather_all(tails: Tails, run_id: str, after: int = 0) -> tuple[list[EventRecord], End]:
    """Everything told until the end, which must come exactly once."""
    told: list[EventRecord] = []
    async for message in tails.follow(run_id, after):
        match message:
            case Batch(events):
                assert message.position == events[-1].sequence
                told += events
            case End():
                end = message
            case Gap():
                pytest.fail(f"unexpected {message}")
    return told, end


def numbers(events: list[EventRecord]) -> list[int]:
    return [event.sequence for event in events]


@pytest.mark.parametrize("lost", [0.0, 0.5, 1.0])
async def test_many_subscribers_hear_everything_whatever_share_of_wake_ups_is_lost(store: Store, lost: float):
    deaf = Deaf(store, lost)
    tails = Tails(store, Bus(deaf))  # type: ignore[arg-type]
    worker = await run_with_worker(store)
    run_id = worker.claim.run_id
    following = [asyncio.create_task(gather_all(tails, run_id)) for _ in range(8)]
    await asyncio.sleep(0)
    await tell(store, worker, 150)
    await worker.go_on()
    following += [asyncio.create_task(gather_all(tails, run_id)) for _ in range(4)]
    await worker.settle(Succeed())
    for told, end in await asyncio.gather(*following):
        assert numbers(told) == list(range(1, end.position + 1))
        assert told[-1].after == "succeeded"
    assert tails._feeds == {}
    assert bool(deaf.lost) is bool(lost)


@pytest.mark.parametrize("lost", [0.5, 1.0])
async def test_reconnecting_anywhere_neither_loses_nor_repeats(store: Store, lost: float):
    deaf = Deaf(store, lost)
    tails = Tails(store, Bus(deaf))  # type: ignore[arg-type]
    worker = await run_with_worker(store)
    chance = random.Random(11)

    async def fickle() -> list[EventRecord]:
        heard: list[EventRecord] = []
        while True:
            stays = chance.randint(1, 3)
            position = heard[-1].sequence if heard else 0
            async with aclosing(tails.follow(worker.claim.run_id, position)) as messages:  # type: ignore[type-var]
                async for message in messages:
                    assert not isinstance(message, Gap)
                    if isinstance(message, End):
                        return heard
                    heard += message.events
                    stays -= 1
                    if stays == 0:
                        break

    following = [asyncio.create_task(fickle()) for _ in range(6)]
    for _ in range(20):
        await tell(store, worker, chance.randint(1, 12))
    last = await worker.settle(Succeed())
    assert last.state is RunState.SUCCEEDED
    for heard in await asyncio.gather(*following):
        assert numbers(heard) == list(range(1, heard[-1].sequence + 1))
        assert heard[-1].after == "succeeded"
    assert deaf.lost


async def test_a_resume_adds_events_after_the_end(store: Store, bus: Bus):
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    run_id = worker.claim.run_id
    await worker.settle(Fail("{}", "x"), AttemptState.FAILED)
    told, end = await gather_all(tails, run_id)
    assert await gather_all(tails, run_id, end.position) == ([], end), "nothing new: only the end"
    found = await store.write(snapshot, run_id)
    assert found is not None
    parts = tuple(ResumeStep(step.id, StepState.FAILED, rerun=True) for step in found.steps)
    await store.write(resume, Resume(run_id, 0, parts), queue_limit=10)
    later = asyncio.create_task(gather_all(tails, run_id, end.position))
    again = await working(store, run_id)
    await again.start()
    await again.settle(Succeed())
    more, second = await later
    assert numbers(told) + numbers(more) == list(range(1, second.position + 1))
    assert more[0].after == "queued"


async def test_a_slow_subscriber_costs_a_page_and_holds_nobody_up(
    store: Store, bus: Bus, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runner.watching.tail, "RING", 50)
    monkeypatch.setattr(runner.watching.tail, "PAGE", 10)
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    run_id = worker.claim.run_id
    async with aclosing(tails.follow(run_id)) as slow:  # type: ignore[type-var]
        first = await anext(slow)
        assert isinstance(first, Batch)
        quick = asyncio.create_task(gather_all(tails, run_id))
        await tell(store, worker, 300)
        await worker.settle(Succeed())
        told, end = await quick
        assert numbers(told) == list(range(1, end.position + 1))
        feed = tails._feeds[run_id]
        assert len(feed._ring) <= 50, "what a slow one has not read is not kept for it"
        heard = [*first.events]
        async for message in slow:
            if isinstance(message, Batch):
                assert len(message.events) <= 10
                heard += message.events
        assert numbers(heard) == list(range(1, end.position + 1))


async def test_pruned_events_are_told_as_a_gap(store: Store, bus: Bus):
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    run_id = worker.claim.run_id
    await tell(store, worker, 20)
    await worker.settle(Succeed())
    prune = Sql("DELETE FROM run_event WHERE run_id = :id AND sequence <= 10")
    await store.write(lambda conn: conn.run(prune, {"id": run_id}))
    messages: list[Any] = [message async for message in tails.follow(run_id, 3)]
    assert messages[0] == Gap(position=10, missed=7)
    assert numbers([*messages[1].events])[0] == 11
    assert isinstance(messages[-1], End)


async def test_a_run_that_is_deleted_or_unknown_ends(store: Store):
    tails = Tails(store, Bus(Deaf(store, 1.0)))  # type: ignore[arg-type]
    assert await gather_all(tails, "run_unknown") == ([], End(0))
    worker = await run_with_worker(store, 1)
    run_id = worker.claim.run_id

    async def follow() -> list[object]:
        # The position lies ahead, so that it waits although the run has ended.
        return [message async for message in tails.follow(run_id, 1)]

    following = asyncio.create_task(follow())
    await until(lambda: tails._feeds)
    await worker.settle(Succeed())
    await store.write(delete_run, run_id)
    assert isinstance((await following)[-1], End)


async def test_a_store_that_cannot_be_read_for_a_while_loses_nothing(store: Store, bus: Bus):
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    rows = store.rows
    broken = 0

    def sometimes(*given: Any, **how: Any) -> Any:
        nonlocal broken
        broken += 1
        if broken % 2:
            raise StoreError("The database is away.")
        return rows(*given, **how)

    store.rows = sometimes  # type: ignore[method-assign]
    following = asyncio.create_task(gather_all(tails, worker.claim.run_id))
    await tell(store, worker, 30)
    await worker.settle(Succeed())
    told, end = await following
    assert numbers(told) == list(range(1, end.position + 1))
    assert broken > 1


async def test_a_store_that_closes_ends_with_an_error(store: Store, bus: Bus):
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    async with aclosing(tails.follow(worker.claim.run_id)) as messages:  # type: ignore[type-var]
        assert isinstance(await anext(messages), Batch)
        await store.close()

        async def to_the_end() -> None:
            async for _ in messages:
                pass

        with pytest.raises(StoreClosedError):
            await to_the_end()


async def test_one_feed_reads_for_all_and_ends_with_the_last(store: Store, bus: Bus):
    tails = Tails(store, bus)
    worker = await run_with_worker(store, 1)
    run_id = worker.claim.run_id
    async with aclosing(tails.follow(run_id)) as one, aclosing(tails.follow(run_id)) as two:  # type: ignore[type-var]
        await anext(one)
        await anext(two)
        assert len(tails._feeds) == 1
        task = tails._feeds[run_id]._task
        assert task is not None
    await until(task.done)
    assert tails._feeds == {}
