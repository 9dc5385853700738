"""Which runs are offered to workers: as many of each caller's as the limit allows, the next as soon as one leaves."""

from __future__ import annotations

import asyncio
import random
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

import pytest

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.admission import (
    find_pause,
    pause_admission,
    readmit,
    set_caller_limit,
    uneven_callers,
    unpause_admission,
)
from store.runs.claim import claim, due, release_leases, snapshot
from store.runs.claimed_run import release
from store.runs.commands import request_cancel, resume
from store.runs.reads import oldest_queued, queue_places
from store.runs.submit import submit
from store.runs.unit_types import Claim, Fail, NotClaimed, QueueFullError, Refusal, Resume, ResumeStep, Succeed, Wait
from store.states import AttemptState, RunState
from tests.support.databases import postgres_store
from tests.support.heard import Heard
from tests.support.rows import caller
from tests.support.runs import FAILURE, LEASE, Worker, claimed, expire_lease, new_run, submitted, working
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from store.database.dialects import Connection, Row
    from store.database.engine import Store

_ADMITTED = Sql("SELECT id FROM run WHERE admitted ORDER BY id")
_STATE = Sql("SELECT state, admitted, priority FROM run WHERE id = :id")
_LOCK_WAITS = Sql("SELECT pid FROM pg_locks WHERE NOT granted")
_QUEUE = Sql(
    """
    INSERT INTO run (id, caller_id, title, state, cause, inputs, inputs_digest, force, cancel_requested, priority,
        admitted, deadline_seconds, epoch, next_seq, lost_in_row, resume_count, progress, search_text, pack, created_at)
    VALUES (:id, :caller_id, 'A run', 'queued', 'person', '{}', 'd', false, false, 0, false, 60.0, 0, 1, 0, 0, 0.0, '',
        'demo.echo', :now)
    """
)


async def admitted(store: Store) -> list[str]:
    return [row.id for row in await store.write(lambda conn: conn.all(_ADMITTED))]


async def offered(store: Store) -> list[str]:
    """What a server that starts now would execute at once."""
    return [found.run_id for found in await store.write(due, LEASE) if found.wait_seconds <= 0]


async def starts(store: Store, caller_id: str, count: int) -> list[str]:
    return [(await submitted(store, caller_id, 1)).run_id for _ in range(count)]


async def recompute(store: Store) -> None:
    for caller_id in await store.write(uneven_callers):
        await store.write(readmit, caller_id)


async def test_only_as_many_of_a_callers_runs_as_the_limit_allows_are_offered(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    await store.write(set_caller_limit, 2)
    mine, theirs = await starts(store, ada.id, 5), await starts(store, bob.id, 1)
    assert await offered(store) == sorted(mine[:2] + theirs)
    refused = await claimed(store, mine[2])
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.NOT_ADMITTED


@pytest.mark.parametrize("leaves", ["ends", "fails", "waits", "is cancelled", "is cancelled while queued"])
async def test_a_slot_that_comes_free_is_given_on_in_the_same_commit(store: Store, leaves: str):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    first, second, third = await starts(store, ada.id, 3)
    heard = Heard(store)
    if leaves == "is cancelled while queued":
        await store.write(request_cancel, first, None)
    else:
        worker = await working(store, first)
        await worker.start()
        if leaves == "ends":
            await worker.settle(Succeed())
        elif leaves == "fails":
            await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)
        elif leaves == "waits":
            await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
        else:
            await expire_lease(store, first)
            await store.write(request_cancel, first, None)
    await heard.until((Topic.RUN_DUE, second))
    assert await admitted(store) == [second]
    assert third not in await offered(store)


async def test_a_cancel_of_a_run_that_is_not_admitted_leaves_the_slots_as_they_are(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    first, second, third = await starts(store, ada.id, 3)
    await store.write(request_cancel, second, None)
    assert await admitted(store) == [first]
    await store.write(request_cancel, first, None)
    assert await admitted(store) == [third]


async def test_a_run_that_its_worker_releases_keeps_its_slot(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    first, _ = await starts(store, ada.id, 2)
    worker = await working(store, first)
    heard = Heard(store)
    await store.write(release, worker.fence, None, "the server stops")
    await heard.until((Topic.RUN_DUE_FIRST, first))
    assert await offered(store) == [first]


async def test_a_resumed_run_is_admitted_before_new_ones_and_keeps_its_priority(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    failed, running, *queued = await starts(store, ada.id, 4)
    worker = await working(store, failed)
    await worker.start()
    await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)
    found = await store.write(snapshot, failed)
    assert found is not None
    parts = tuple(ResumeStep(step.id, step.state, True) for step in found.steps)
    await store.write(resume, Resume(failed, 0, parts), queue_limit=10)
    assert await admitted(store) == [running], "it waits like any other"
    worker = await working(store, running)
    await worker.start()
    heard = Heard(store)
    await worker.settle(Succeed())
    await heard.until((Topic.RUN_DUE_FIRST, failed))
    assert await admitted(store) == [failed]
    await store.write(request_cancel, failed, None)
    assert await admitted(store) == queued[:1]


async def test_a_run_whose_wait_is_over_asks_for_a_slot(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    waiting, other = await starts(store, ada.id, 2)
    worker = await working(store, waiting)
    await worker.start()
    left = await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
    assert await offered(store) == [other]
    refused = await store.write(claim, waiting, owner="w", lease_seconds=LEASE, waited_for=left.not_before)
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.NOT_ADMITTED
    row = await store.write(lambda conn: conn.one(_STATE, {"id": waiting}))
    assert (row.state, bool(row.admitted)) == ("queued", False)  # type: ignore[union-attr]
    await store.write(request_cancel, other, None)
    assert await offered(store) == [waiting]
    again = await working(store, waiting)
    assert again.claim.steps[0].attempts == 1


async def test_a_run_whose_wait_is_over_takes_a_free_slot_at_once(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    (waiting,) = await starts(store, ada.id, 1)
    worker = await working(store, waiting)
    await worker.start()
    left = await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
    taken = await store.write(claim, waiting, owner="w", lease_seconds=LEASE, waited_for=left.not_before)
    assert isinstance(taken, Claim)
    assert await admitted(store) == [waiting]


async def test_a_raised_limit_admits_more_and_a_lowered_one_takes_back_what_nobody_holds(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    await store.write(set_caller_limit, 2)
    mine, theirs = await starts(store, ada.id, 6), await starts(store, bob.id, 1)
    await store.write(set_caller_limit, 4)
    await recompute(store)
    assert await admitted(store) == sorted(mine[:4] + theirs)
    held = mine[3]
    await working(store, held)
    await store.write(set_caller_limit, 2)
    await recompute(store)
    assert await admitted(store) == sorted([mine[0], held, *theirs]), "the newest are taken back first"
    await store.write(set_caller_limit, 1)
    await recompute(store)
    assert await admitted(store) == sorted([held, *theirs])
    assert await store.write(uneven_callers) == []


async def test_what_a_lost_worker_held_keeps_its_slot_over_a_restart(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    first, _ = await starts(store, ada.id, 2)
    await working(store, first)
    assert await offered(store) == []
    await store.write(release_leases)
    await recompute(store)
    assert await offered(store) == [first]
    assert isinstance(await claimed(store, first, owner="w2"), Claim)


async def test_a_long_queue_of_one_caller_hides_nobody_elses_runs(store: Store):
    """A restarted server asks what is due: it must not see one caller's thousands first."""
    ada, bob = await caller(store), await caller(store, "bob")
    await store.write(set_caller_limit, 8)
    now = await store.write(lambda conn: conn.now())
    rows = [{"id": f"run_{number:05}", "caller_id": ada.id, "now": now} for number in range(6_000)]
    await store.write(lambda conn: conn.many(_QUEUE, rows))
    (theirs,) = await starts(store, bob.id, 1)
    await recompute(store)
    assert sorted(await offered(store)) == sorted([*(f"run_{number:05}" for number in range(8)), theirs])


async def test_units_that_race_neither_pass_the_limit_nor_leave_a_slot_free(store: Store):
    """Starts, ends and cancels of one caller at the same moment, as on several servers."""
    ada = await caller(store)
    await store.write(set_caller_limit, 3)
    random.seed(7)
    ended = 0

    async def works(run_id: str) -> None:
        nonlocal ended
        answer = await claimed(store, run_id, owner=f"w{run_id}")
        if isinstance(answer, Claim):
            await Worker(store, answer).to_the_end()
            ended += 1

    run_ids: list[str] = []
    for _ in range(12):
        found = await offered(store)
        made = asyncio.gather(*(submitted(store, ada.id, 1) for _ in range(4)))
        cancels = [store.write(request_cancel, run_id, None) for run_id in random.sample(run_ids, min(2, len(run_ids)))]
        results = await asyncio.gather(*map(works, found), *cancels, return_exceptions=True)
        assert not [error for error in results if isinstance(error, AssertionError)]
        run_ids += [each.run_id for each in await made]
        states = [(await store.write(lambda conn, id=run_id: conn.one(_STATE, {"id": id}))) for run_id in run_ids]
        active = [row for row in states if row.state not in ("succeeded", "cancelled", "failed")]  # type: ignore[union-attr]
        taken = [row for row in active if row.admitted]  # type: ignore[union-attr]
        assert len(taken) == min(3, len(active))
    assert ended > 12


# ------------------------------------------------------------------------------------------------ units that overlap


class Interrupted:
    """A connection whose unit stops after its first statement with `words`, until `go` is set."""

    def __init__(self, conn: Connection, words: str, stopped: threading.Event, go: threading.Event) -> None:
        self._conn, self._words, self._stopped, self._go = conn, words, stopped, go

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conn, name)

    def one(self, sql: Sql, *values: Any) -> Row | None:
        row = self._conn.one(sql, *values)
        if self._words in sql.postgresql and not self._stopped.is_set():
            self._stopped.set()
            assert self._go.wait(60)
        return row


@dataclass
class Overlap:
    """A unit that has stopped in its middle, with the locks it holds by then."""

    task: asyncio.Task[Any]
    go: threading.Event

    @classmethod
    async def of(cls, store: Store, words: str, unit: Callable[..., Any], *args: Any, **more: Any) -> Self:
        stopped, go = threading.Event(), threading.Event()
        task = asyncio.create_task(
            store.write(lambda conn: unit(Interrupted(conn, words, stopped, go), *args, **more))  # type: ignore[arg-type]
        )
        assert await asyncio.to_thread(stopped.wait, 60)
        return cls(task, go)

    async def end(self) -> Any:
        self.go.set()
        return await self.task


@pytest.mark.postgres
async def test_a_start_that_joins_a_queued_run_admits_it_where_a_unit_that_freed_a_slot_skipped_it(tmp_path: Path):
    async with postgres_store(tmp_path) as store:
        ada = await caller(store)
        await store.write(set_caller_limit, 1)
        (running,) = await starts(store, ada.id, 1)
        worker = await working(store, running)
        queued = await submitted(store, ada.id, 1, flight="tea")
        joined = new_run(ada.id, 1, flight="tea")
        joining = await Overlap.of(store, "flight = %(flight)s FOR UPDATE", submit, joined, queue_limit=9)
        await worker.to_the_end()
        assert await admitted(store) == [], "the run is locked"
        assert (await joining.end()).coalesced
        assert await admitted(store) == [queued.run_id]


@pytest.mark.postgres
async def test_a_pause_takes_back_a_run_that_another_unit_was_admitting(tmp_path: Path):
    async with postgres_store(tmp_path) as store:
        ada = await caller(store)
        await store.write(set_caller_limit, 1)
        first, _ = await starts(store, ada.id, 2)
        cancelling = await Overlap.of(store, "SET admitted = true", request_cancel, first, None)
        pausing = asyncio.create_task(store.write(pause_admission, "olga", None))

        async def waits_or_ended() -> bool:
            return pausing.done() or bool(await store.write(lambda conn: conn.all(_LOCK_WAITS)))

        await eventually(waits_or_ended)
        await cancelling.end()
        await pausing
        assert await admitted(store) == []


# ------------------------------------------------------------------------------------------------ start times


async def _now(store: Store) -> datetime:
    return await store.write(lambda conn: conn.now())


async def test_a_run_with_a_start_time_waits_for_it_and_takes_no_slot(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    then = await _now(store) + timedelta(hours=1)
    later = await submitted(store, ada.id, 1, start_at=then)
    (other,) = await starts(store, ada.id, 1)
    assert (later.admitted, later.wait_seconds) == (False, pytest.approx(3600, abs=5))
    assert await offered(store) == [other]
    waits = [found for found in await store.write(due, LEASE) if found.run_id == later.run_id]
    assert [(found.not_before, found.wait_seconds) for found in waits] == [(then, pytest.approx(3600, abs=60))]
    refused = await claimed(store, later.run_id)
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.LATER
    await store.write(request_cancel, other, None)
    taken = await store.write(claim, later.run_id, owner="w", lease_seconds=LEASE, waited_for=then)
    assert isinstance(taken, Claim)
    assert taken.deadline_at == taken.now + timedelta(seconds=60), "its deadline begins now"


async def test_a_run_is_in_the_queue_since_its_start_time(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    (other,) = await starts(store, ada.id, 1)
    await working(store, other)
    then = await _now(store) + timedelta(hours=1)
    later = await submitted(store, ada.id, 1, start_at=then)
    refused = await claimed(store, later.run_id, waited_for=then)
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.NOT_ADMITTED
    assert await oldest_queued(store) == then


async def test_a_run_whose_start_time_has_passed_is_queued_at_once(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, start_at=await _now(store) - timedelta(hours=1))
    assert (made.admitted, made.wait_seconds) == (True, None)


async def test_a_run_that_waits_for_its_start_can_be_cancelled(store: Store):
    ada = await caller(store)
    later = await submitted(store, ada.id, 1, start_at=await _now(store) + timedelta(hours=1))
    assert await store.write(request_cancel, later.run_id, None) is RunState.CANCELLED
    assert await store.write(due, LEASE) == []


async def test_equal_starts_share_one_run_that_waits_for_its_start(store: Store):
    ada = await caller(store)
    then = await _now(store) + timedelta(hours=1)
    first = await submitted(store, ada.id, 1, start_at=then, flight="tea")
    joined = await submitted(store, ada.id, 1, flight="tea")
    assert (joined.run_id, joined.coalesced) == (first.run_id, True)


async def test_runs_that_wait_for_their_start_count_for_the_queue_limit(store: Store):
    ada = await caller(store)
    then = await _now(store) + timedelta(hours=1)
    for _ in range(2):
        await submitted(store, ada.id, 1, start_at=then, queue_limit=2)
    with pytest.raises(QueueFullError):
        await submitted(store, ada.id, 1, start_at=then, queue_limit=2)
    assert (await submitted(store, ada.id, 1, queue_limit=2)).admitted, "they take no place in the queue"


@pytest.mark.parametrize("waits_for", ["a slot", "its start"])
async def test_runs_of_triggers_and_other_starts_have_a_queue_limit_each(store: Store, waits_for: str):
    ada = await caller(store)
    await store.write(set_caller_limit, 0)  # all of them wait
    then = await _now(store) + timedelta(hours=1)
    given: dict[str, Any] = {} if waits_for == "a slot" else {"start_at": then}
    trigger = {**given, "trigger_id": "trg_x"}
    for _ in range(5):  # as schedules that are on time start them
        await submitted(store, ada.id, 1, queue_limit=None, **trigger)
    for _ in range(2):
        await submitted(store, ada.id, 1, queue_limit=2, **given)
    for full, by_trigger in ((given, False), (trigger, True)):
        with pytest.raises(QueueFullError) as refused:
            await submitted(store, ada.id, 1, queue_limit=2, **full)
        assert refused.value.by_trigger is by_trigger


async def test_many_runs_of_triggers_keep_nobody_from_resuming_a_run(store: Store):
    ada = await caller(store)
    failed = (await submitted(store, ada.id, 1)).run_id
    worker = await working(store, failed)
    await worker.start()
    await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)
    await store.write(set_caller_limit, 0)  # all of them wait
    for _ in range(3):
        await submitted(store, ada.id, 1, queue_limit=None, trigger_id="trg_x")
    found = await store.write(snapshot, failed)
    assert found is not None
    parts = tuple(ResumeStep(step.id, step.state, True) for step in found.steps)
    await store.write(resume, Resume(failed, 0, parts), queue_limit=1)


# ------------------------------------------------------------------------------------------------ a pause


async def test_a_pause_keeps_new_runs_from_starting_and_lets_go_on_what_runs(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 2)
    running, queued, waiting = await starts(store, ada.id, 3)
    worker = await working(store, running)
    await worker.start()
    await store.write(pause_admission, "olga", "new disk")
    assert await admitted(store) == [running]
    (late,) = await starts(store, ada.id, 1)
    await store.write(release, worker.fence, None, "the server stops")
    assert await offered(store) == [running], "it goes on at the next start of a server"
    assert isinstance(await claimed(store, running, owner="w2"), Claim)
    await recompute(store)
    assert await admitted(store) == [running]
    places = await queue_places(store, [queued])
    assert places[queued].paused
    pause = await find_pause(store)
    assert pause is not None
    assert (pause.by, pause.reason) == ("olga", "new disk")
    await store.write(unpause_admission)
    await recompute(store)
    assert await admitted(store) == [running, queued]
    assert await find_pause(store) is None
    assert {waiting, late}.isdisjoint(await admitted(store))


async def test_a_second_pause_keeps_when_the_first_began(store: Store):
    await store.write(set_caller_limit, 2)
    await store.write(pause_admission, "olga", None)
    first = await find_pause(store)
    await store.write(pause_admission, "otto", "still")
    second = await find_pause(store)
    assert first is not None
    assert second is not None
    assert (second.at, second.by, second.reason) == (first.at, "otto", "still")
    await store.write(set_caller_limit, 3)
    assert await find_pause(store) == second, "it outlasts the start of a server"


# ------------------------------------------------------------------------------------------------ a pipeline's limit


async def limited(store: Store, caller_id: str, count: int, key: str = "deploy", limit: int = 1) -> list[str]:
    made = [submitted(store, caller_id, 1, concurrency_key=key, concurrency_limit=limit) for _ in range(count)]
    return [(await each).run_id for each in made]


async def test_so_many_runs_with_one_key_are_admitted_and_others_pass_them(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 3)
    first, second = await limited(store, ada.id, 2)
    (other,) = await limited(store, ada.id, 1, key="another")
    (free,) = await starts(store, ada.id, 1)
    assert await offered(store) == [first, other, free]
    places = await queue_places(store, [second])
    assert places[second].is_held_back
    worker = await working(store, first)
    await worker.start()
    heard = Heard(store)
    await worker.settle(Succeed())
    await heard.until((Topic.RUN_DUE, second))
    assert await offered(store) == [second, other, free]


@pytest.mark.parametrize("leaves", ["ends", "waits", "is cancelled"])
async def test_a_place_that_comes_free_is_given_to_another_callers_run(store: Store, leaves: str):
    ada, bob = await caller(store), await caller(store, "bob")
    await store.write(set_caller_limit, 3)
    (mine,), (theirs,) = await limited(store, ada.id, 1), await limited(store, bob.id, 1)
    assert await admitted(store) == [mine]
    if leaves == "is cancelled":
        await store.write(request_cancel, mine, None)
    else:
        worker = await working(store, mine)
        await worker.start()
        if leaves == "ends":
            await worker.settle(Succeed())
        else:
            await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
    assert await admitted(store) == [theirs]


async def test_a_waiting_run_comes_back_when_its_pipeline_has_a_place(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 3)
    first, second = await limited(store, ada.id, 2)
    worker = await working(store, first)
    await worker.start()
    left = await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
    assert await admitted(store) == [second]
    refused = await store.write(claim, first, owner="w", lease_seconds=LEASE, waited_for=left.not_before)
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.NOT_ADMITTED
    await store.write(request_cancel, second, None)
    assert await admitted(store) == [first]


async def test_callers_that_race_for_one_place_admit_one_run(store: Store):
    callers = [await caller(store, f"caller {number}") for number in range(8)]
    await store.write(set_caller_limit, 3)
    for _ in range(4):
        made = await asyncio.gather(*(limited(store, each.id, 1, limit=2) for each in callers))
        assert len(await admitted(store)) == 2
        run_ids = [run_id for (run_id,) in made]
        await asyncio.gather(*(store.write(request_cancel, run_id, None) for run_id in await admitted(store)))
        for each in callers:
            await store.write(readmit, each.id)  # as the rescue does for what two units kept from each other
        assert len(await admitted(store)) == 2
        await asyncio.gather(*(store.write(request_cancel, run_id, None) for run_id in run_ids), return_exceptions=True)
        for run_id in await admitted(store):
            await store.write(request_cancel, run_id, None)
        assert await admitted(store) == []
