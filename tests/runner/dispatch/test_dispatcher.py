"""Who runs next: lanes, callers' limits, timers."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextvars import ContextVar
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from runner.dispatch.dispatcher import EmbeddedDispatcher
from store.access.callers import ensure_caller
from store.database.wakes import Topic
from store.runs.claim import Due
from store.runs.commands import delete_run
from store.runs.reads import count_queued
from store.runs.submit import submit
from store.runs.unit_types import IdempotencyClashError, NotClaimed, Refusal
from store.states import RunState
from tests.support.engine import QUICK, laboratory, named, step, until
from tests.support.engine_packs import Anything, Signals, engine_packs
from tests.support.packs import Workbench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from packline import PackContext
    from tests.support.engine import Laboratory

SLOW = [step("a", "test.scripted")]
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Crowd:
    """Handlers that wait until they are let go, one by one, and count who is inside."""

    def __init__(self, signals: Signals) -> None:
        self.inside: Counter[str] = Counter()
        self.most = 0
        self.order: list[str] = []
        self.gate = asyncio.Semaphore(0)
        signals.body = self.body

    async def body(self, ctx: PackContext, given: Anything) -> str:
        self.inside[ctx.caller] += 1
        self.most = max(self.most, self.inside.total())
        self.order.append(ctx.run_id)
        try:
            await self.gate.acquire()
        finally:
            self.inside[ctx.caller] -= 1
        return "done"

    def let(self, count: int) -> None:
        for _ in range(count):
            self.gate.release()


def lab_with(tmp_path: Path, signals: Signals, **limits: Any) -> Any:
    # The rescue is far away, so that only prompt deliveries count.
    return laboratory(tmp_path, engine_packs(signals), limits=replace(QUICK, rescue_seconds=600.0, **limits))


async def test_a_caller_has_so_many_runs_and_the_rest_wait_their_turn(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=3) as lab:
        crowd = Crowd(signals)
        run_ids = [await lab.start(SLOW) for _ in range(10)]
        await until(lambda: crowd.inside.total() == 3)
        assert await count_queued(lab.store) == 7
        for done in range(1, 8):
            crowd.let(1)
            await until(lambda done=done: len(crowd.order) == 3 + done)
        crowd.let(10)
        for run_id in run_ids:
            assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
        assert crowd.most == 3


async def test_queued_runs_go_in_the_order_they_came(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=1) as lab:
        crowd = Crowd(signals)
        run_ids = [await lab.start(SLOW) for _ in range(6)]
        await until(lambda: crowd.inside.total() == 1)
        assert await count_queued(lab.store) == 5
        crowd.let(6)
        for run_id in run_ids:
            await lab.ended(run_id)
        assert crowd.order[1:] == sorted(crowd.order[1:])


async def test_one_callers_crowd_does_not_hold_up_another(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=2) as lab:
        crowd = Crowd(signals)
        for _ in range(20):
            await lab.start(SLOW)
        bob = await lab.store.write_few(ensure_caller, "bob", "Bob")
        theirs = await lab.start(SLOW, caller_id=bob.id)
        await until(lambda: crowd.inside["bob"] == 1)
        crowd.let(30)
        assert (await lab.ended(theirs)).state is RunState.SUCCEEDED


async def test_a_queued_run_that_is_cancelled_gives_its_turn_to_the_next(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=1) as lab:
        crowd = Crowd(signals)
        first, second, third, fourth = [await lab.start(SLOW) for _ in range(4)]
        await until(lambda: crowd.inside.total() == 1)
        assert await count_queued(lab.store) == 3
        await lab.cancel(second)
        await lab.cancel(third)
        await lab.store.write_few(delete_run, third)
        crowd.let(2)
        assert (await lab.ended(first)).state is RunState.SUCCEEDED
        assert (await lab.ended(fourth)).state is RunState.SUCCEEDED


async def test_lanes_bound_what_runs_at_once(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, lanes=2) as lab:
        crowd = Crowd(signals)
        run_ids = [await lab.start(SLOW) for _ in range(6)]
        await until(lambda: crowd.inside.total() == 2)
        crowd.let(6)
        for run_id in run_ids:
            await lab.ended(run_id)
        assert crowd.most == 2


async def test_what_was_under_way_goes_before_new_work(tmp_path: Path):
    bench = Workbench()
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lanes=1, rescue_seconds=600)) as lab:
        old = await lab.start([step("a", "test.slow"), step("b", "test.echo", text="old")])
        await bench.started.wait()
        new = [await lab.start([step("a", "test.echo", text=f"new {number}")]) for number in range(3)]
        await lab.crash()
        bench.release.set()
        await lab.restart()
        for run_id in (old, *new):
            await lab.ended(run_id)
        assert bench.calls_of("test.echo")[0].run_id == old


async def test_a_run_waiting_for_its_retry_leaves_its_slot(tmp_path: Path):
    bench = Workbench()
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, concurrent_runs=1, rescue_seconds=600)) as lab:
        waiting = await lab.start(
            [step("a", "test.flaky", times=1, retry={"initial_seconds": 60, "max_seconds": 60, "jitter": 0})],
            deadline_seconds=1000.0,
        )
        other = await lab.start([step("a", "test.echo")])
        assert (await lab.ended(other)).state is RunState.SUCCEEDED
        assert (await lab.fared(waiting)).state is RunState.WAITING


# ------------------------------------------------------------------------------------------------ with the submission


def written(lab: Laboratory) -> list[str]:
    """Names of the units that are written from now on, as they come."""
    units: list[str] = []
    write = lab.store.write_few

    async def noting(unit: object, *args: object, **kwargs: object) -> object:
        units.append(named(unit))
        return await write(unit, *args, **kwargs)  # type: ignore[arg-type]

    lab.store.write_few = noting  # type: ignore[method-assign, assignment]
    return units


async def test_a_run_that_is_next_begins_with_its_submission(tmp_path: Path):
    bench = Workbench()
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, rescue_seconds=600)) as lab:
        await lab.pipeline(steps := [step("a", "test.echo", text="x"), step("b", "test.echo", text="y")])
        units = written(lab)
        run = await lab.run(steps)
        assert units == ["_submit", "settle", "settle"]
        assert run.state is RunState.SUCCEEDED
        assert run.told()[:4] == ["run queued", "run running", "step a running", "attempt a running"]
        assert run.record.epoch == 1


async def test_a_start_goes_behind_runs_of_its_caller_that_no_dispatcher_here_knows(tmp_path: Path):
    """As another process on the same database may have stored them."""
    bench = Workbench()
    limits = replace(QUICK, concurrent_runs=1, rescue_seconds=600)
    async with laboratory(tmp_path, bench.packs, limits=limits) as lab:
        older = await lab.store.write_few(submit, await lab.new_run([step("a", "test.echo")]), queue_limit=10)
        new = await lab.start([step("a", "test.echo", text="new")])
        assert await lab.state(new) is RunState.QUEUED
        await lab.engine.rescue.sweep()
        assert (await lab.ended(new)).state is RunState.SUCCEEDED
        assert [call.run_id for call in bench.calls_of("test.echo")] == [older.run_id, new]


async def test_no_start_goes_past_a_run_that_waits_for_a_slot_or_a_lane(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=1, lanes=2) as lab:
        crowd = Crowd(signals)
        bob = await lab.store.write_few(ensure_caller, "bob", "Bob")
        mine = [await lab.start(SLOW) for _ in range(3)]
        await until(lambda: crowd.inside.total() == 1)
        assert await count_queued(lab.store) == 2
        theirs = [await lab.start(SLOW, caller_id=bob.id) for _ in range(2)]
        await until(lambda: crowd.inside.total() == 2)
        assert await count_queued(lab.store) == 3
        crowd.let(10)
        for run_id in (*mine, *theirs):
            assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
        assert [run_id for run_id in crowd.order if run_id in mine] == [mine[0], *sorted(mine[1:])]
        assert [run_id for run_id in crowd.order if run_id in theirs] == theirs
        assert crowd.most == 2


async def test_starts_at_once_stay_within_the_callers_limit(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, concurrent_runs=3) as lab:
        crowd = Crowd(signals)
        await lab.pipeline(SLOW)
        run_ids = await asyncio.gather(*(lab.start(SLOW) for _ in range(10)))
        await until(lambda: crowd.inside.total() == 3)
        assert await count_queued(lab.store) == 7
        crowd.let(10)
        for run_id in run_ids:
            assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
        assert crowd.most == 3


async def test_a_run_is_tried_once_however_many_wait(tmp_path: Path, signals: Signals):
    """What waits is not admitted, so no worker tries it; a restart tries no more."""
    async with lab_with(tmp_path, signals, concurrent_runs=2) as lab:
        crowd = Crowd(signals)
        units = written(lab)
        run_ids = [await lab.start(SLOW) for _ in range(20)]
        await until(lambda: crowd.inside.total() == 2)
        assert units.count("take") == 0, "the first two began with their submission"
        await lab.crash()
        await lab.restart()
        crowd.let(40)
        for run_id in run_ids:
            assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
        assert units.count("take") == 20


async def test_a_refused_start_leaves_its_lane_free(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals, lanes=1) as lab:
        crowd = Crowd(signals)
        crowd.let(1)
        run_id = await lab.start(SLOW, idempotency_key="k", request_digest="one")
        await lab.ended(run_id)
        with pytest.raises(IdempotencyClashError):
            await lab.start(SLOW, idempotency_key="k", request_digest="two")
        again = await lab.engine.submit(await lab.new_run(SLOW, idempotency_key="k", request_digest="one"))
        assert (again.run_id, again.replayed) == (run_id, True)
        crowd.let(1)
        assert (await lab.ended(await lab.start(SLOW))).state is RunState.SUCCEEDED


async def test_a_run_goes_on_when_whoever_submits_it_is_gone(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals) as lab:
        crowd = Crowd(signals)
        new = await lab.new_run(SLOW)
        submitting = asyncio.create_task(lab.engine.submit(new))
        await asyncio.sleep(0)
        submitting.cancel()
        await asyncio.gather(submitting, return_exceptions=True)
        assert submitting.cancelled()
        crowd.let(1)
        await until(lambda: crowd.order)
        assert (await lab.ended(crowd.order[0])).state is RunState.SUCCEEDED


async def test_a_start_whose_lane_is_cut_off_waits_no_longer(tmp_path: Path, signals: Signals):
    async with lab_with(tmp_path, signals) as lab:
        new = await lab.new_run(SLOW)
        asked = asyncio.Event()

        async def never(*_args: object, **_kwargs: object) -> None:
            asked.set()
            await asyncio.Event().wait()

        write, lab.store.write_few = lab.store.write_few, never  # type: ignore[method-assign, assignment]
        submitting = asyncio.create_task(lab.engine.submit(new))
        await asked.wait()
        lab.store.write_few = write  # type: ignore[method-assign]
        await lab.crash()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(5):
                await submitting


async def test_a_run_has_nothing_of_the_request_that_submits_it(tmp_path: Path, signals: Signals):
    asking = ContextVar("asking", default="nobody")
    seen: list[str] = []
    signals.body = lambda ctx, given: seen.append(asking.get()) or "done"
    async with lab_with(tmp_path, signals) as lab:
        asking.set("ada")
        await lab.run(SLOW)
    assert seen == ["nobody"]


# ------------------------------------------------------------------------------------------------ the adapter alone


class Source:
    """Stands for the store: only its wake-ups count here."""

    def __init__(self) -> None:
        self.wakes = self
        self._listeners: dict[Topic, Callable[[str], None]] = {}

    def listen(self, topic: Topic, listener: Callable[[str], None]) -> None:
        self._listeners[topic] = listener

    def dispatch(self, *run_ids: str) -> None:
        for run_id in run_ids:
            self._listeners[Topic.RUN_DUE](run_id)


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def dispatcher(source: Source) -> AsyncIterator[EmbeddedDispatcher]:
    made = EmbeddedDispatcher(source, lanes=4, lease_seconds=30.0)  # type: ignore[arg-type]
    yield made
    await made.stop()


async def test_a_run_dispatched_while_it_is_handled_is_looked_at_once_more(
    source: Source, dispatcher: EmbeddedDispatcher
):
    calls: list[str] = []

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        calls.append(run_id)
        if len(calls) == 1:
            for _ in range(5):
                source.dispatch("run_1")
        return None

    await dispatcher.serve(handler)
    source.dispatch("run_1")
    await until(lambda: len(calls) == 2)
    await asyncio.sleep(0)
    assert len(calls) == 2


async def test_it_has_a_lane_for_a_start_only_when_none_goes_before_it(source: Source, dispatcher: EmbeddedDispatcher):
    let_go = asyncio.Event()
    begun: list[str] = []

    async def refuse(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        return NotClaimed(Refusal.NOT_ADMITTED, "ada")

    async def hold(run_id: str) -> None:
        begun.append(run_id)
        await let_go.wait()

    assert not dispatcher.has_lane(), "it does not serve yet"
    await dispatcher.serve(refuse)
    source.dispatch("run_1")
    await until(lambda: not dispatcher.lanes.tasks)
    for number in (2, 3, 4, 5):
        assert dispatcher.has_lane()
        dispatcher.occupy(f"run_{number}", hold(f"run_{number}"))
    assert not dispatcher.has_lane(), "all lanes are taken"
    let_go.set()
    await until(lambda: dispatcher.has_lane())
    assert begun == ["run_2", "run_3", "run_4", "run_5"]
    await dispatcher.stop()
    assert not dispatcher.has_lane(), "it has stopped"


async def test_a_clock_that_is_ahead_does_not_make_it_spin(source: Source, dispatcher: EmbeddedDispatcher):
    calls: list[float] = []
    loop = asyncio.get_running_loop()

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        calls.append(loop.time())
        if len(calls) == 4:
            return None
        return NotClaimed(Refusal.LATER, "ada", -5.0)

    await dispatcher.serve(handler)
    source.dispatch("run_1")
    await until(lambda: len(calls) == 4)
    assert calls[3] - calls[0] >= 0.05


async def test_the_rescue_says_anew_how_long_a_run_waits(source: Source, dispatcher: EmbeddedDispatcher):
    """The clock may have been set meanwhile, or this machine may have slept: timers know neither."""
    calls: list[str] = []

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        calls.append(run_id)
        return NotClaimed(Refusal.LATER, "ada", 3600.0) if calls.count(run_id) == 1 else None

    await dispatcher.serve(handler)
    source.dispatch("run_1", "run_2")
    await until(lambda: sorted(calls) == ["run_1", "run_2"])
    dispatcher.wait_for(Due("run_1", 0))
    dispatcher.wait_for(Due("run_2", 0, 0.05))
    await until(lambda: sorted(calls) == ["run_1", "run_1", "run_2", "run_2"])


async def test_the_rescue_makes_no_wait_longer_and_what_was_waited_for_is_remembered(
    source: Source, dispatcher: EmbeddedDispatcher
):
    """The clock was set back: the store says an hour each time it is asked."""
    answers = [NotClaimed(Refusal.LATER, "ada", 0.05, NOON), NotClaimed(Refusal.NOT_ADMITTED, "ada"), None]
    told: list[datetime | None] = []

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        told.append(waited_for)
        return answers[len(told) - 1]

    await dispatcher.serve(handler)
    source.dispatch("run_1")
    await until(lambda: dispatcher._timers)
    dispatcher.wait_for(Due("run_1", 0, 3600.0, NOON))
    await until(lambda: len(told) == 2)
    source.dispatch("run_1")
    await until(lambda: len(told) == 3)
    assert told == [None, NOON, None], "it has waited once, and is queued since"


async def test_a_run_that_waits_once_more_is_waited_for_once_more(source: Source, dispatcher: EmbeddedDispatcher):
    calls: list[datetime | None] = []
    answers = [NotClaimed(Refusal.LATER, "ada", 0.05, NOON), None]

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        calls.append(waited_for)
        return answers[len(calls) - 1]

    await dispatcher.serve(handler)
    source.dispatch("run_1")
    await until(lambda: dispatcher._timers)
    later = NOON + timedelta(hours=1)
    dispatcher.wait_for(Due("run_1", 0, 0.1, later))
    await until(lambda: len(calls) == 2)
    assert calls == [None, later]


async def test_a_handler_that_raises_costs_only_its_run(source: Source, dispatcher: EmbeddedDispatcher):
    done: list[str] = []

    async def handler(run_id: str, waited_for: datetime | None) -> NotClaimed | None:
        if run_id == "run_bad":
            raise LookupError
        done.append(run_id)
        return None

    await dispatcher.serve(handler)
    source.dispatch("run_bad")
    source.dispatch("run_good")
    await until(lambda: done == ["run_good"])
