"""Which worker may claim a run: one that offers what its next step needs."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from runner.resuming.sessions import usable_sessions
from runner.running.resources import RunLimits
from store.database.dialects import Sql
from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.runs.admission import readmit, set_caller_limit
from store.runs.claim import due, snapshot
from store.runs.claimed_run import release
from store.runs.commands import request_cancel, resume
from store.runs.events import list_events
from store.runs.needs import needs_of, needs_text
from store.runs.reads import find_run_by_id
from store.runs.serving import living_offers, match_workers
from store.runs.sessions import start_session
from store.runs.step_reads import steps_of_runs
from store.runs.unit_types import (
    Claim,
    Fail,
    GoOn,
    HandOver,
    LostLeaseError,
    NotClaimed,
    Pause,
    Refusal,
    Resume,
    ResumeStep,
    Settled,
    Succeed,
    Wait,
)
from store.runs.workers import WorkerIdentity, list_queue, list_workers, sign_of_life, takeovers_of_runs
from store.states import AttemptState, EventType, RunState, StepState
from tests.support.databases import postgres_store
from tests.support.engine import make_resources
from tests.support.heard import Heard
from tests.support.rows import caller
from tests.support.run_rows import record
from tests.support.runs import FAILURE, LEASE, claimed, expire_lease, submitted, working

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from store.database.dialects import Connection
    from store.database.engine import Store
    from tests.support.runs import Worker

HANDED = HandOver(0.5, needs_text({"chromium"}), "step step2 needs a worker with chromium")


@pytest_asyncio.fixture
async def shared(tmp_path: Path) -> AsyncIterator[Store]:
    """A store that several servers may share."""
    async with postgres_store(tmp_path) as opened:
        yield opened


async def offered(store: Store) -> list[str]:
    return [found.run_id for found in await store.write(due, LEASE)]


async def seen(store: Store, name: str, *offers: str, seconds_ago: float = 0.0) -> None:
    worker = WorkerIdentity(name, machine=name, release="1.0.0", lanes=8)
    await store.write(sign_of_life, worker, needs_text(offers), 0.0, LEASE)
    if seconds_ago:

        def unit(conn: Connection) -> None:
            at = conn.bindable(conn.now() - timedelta(seconds=seconds_ago))
            conn.run(Sql("UPDATE worker SET seen_at = :at WHERE id = :id"), {"id": name, "at": at})

        await store.write(unit)


@pytest.mark.parametrize("needs", [(), ("chromium",), ("pack:demo.echo@2", "chromium", "@here:/data, or so")])
def test_needs_are_kept_in_one_form(needs: tuple[str, ...]):
    clean = frozenset(need.replace(",", "") for need in needs)
    assert needs_of(needs_text(clean)) == clean
    assert needs_text(reversed(sorted(clean))) == needs_text(clean)


async def test_a_worker_that_lacks_something_does_not_claim_and_the_epoch_stays(store: Store):
    ada = await caller(store)
    run_id = (await submitted(store, ada.id, needs="chromium,gpu")).run_id

    refused = await claimed(store, run_id, offers=frozenset({"chromium"}))

    assert refused == NotClaimed(Refusal.LACKS, ada.id)
    assert (await record(store, run_id)).epoch == 0
    taken = await claimed(store, run_id, offers=frozenset({"chromium", "gpu", "git"}))
    assert isinstance(taken, Claim)
    assert (taken.epoch, taken.needs) == (1, "chromium,gpu")


async def test_a_run_is_handed_over_in_the_commit_that_settles(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 3)).run_id)
    await worker.start()
    heard = Heard(store)

    assert await worker.settle(HANDED) == Settled(RunState.QUEUED)

    run = await record(store, worker.claim.run_id)
    assert (run.state, run.owner, run.lease_until, run.needs) == (RunState.QUEUED, None, None, "chromium")
    assert run.progress == 0.5
    await heard.until((Topic.RUN_DUE_FIRST, run.id))
    assert await offered(store) == [run.id], "it keeps its slot"
    taken = await claimed(store, run.id, owner="w2", offers=frozenset({"chromium"}))
    assert isinstance(taken, Claim)
    assert (taken.taken_over, taken.previous_worker, taken.lost_attempt) == (False, "w1", None)
    handed = [
        event for event in await list_events(store, run.id, PageWindow(limit=100)) if event.reason == HANDED.reason
    ]
    assert [(event.before, event.after) for event in handed] == [("running", "queued")]


async def test_the_deadline_does_not_run_while_nobody_serves_a_run(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2)).run_id)
    await worker.start()
    await worker.settle(HANDED)
    run_id = worker.claim.run_id
    # Five minutes pass, with a deadline of one.
    earlier = Sql("UPDATE run SET idle_since = :at, deadline_at = :deadline_at WHERE id = :id")

    def pass_time(conn: Connection) -> None:
        at, deadline_at = conn.now() - timedelta(minutes=5), conn.now() - timedelta(minutes=4, seconds=10)
        conn.run(earlier, {"id": run_id, "at": conn.bindable(at), "deadline_at": conn.bindable(deadline_at)})

    await store.write(pass_time)
    taken = await claimed(store, run_id, owner="w2")
    assert isinstance(taken, Claim)
    assert (taken.deadline_at - taken.now).total_seconds() == pytest.approx(50, abs=1)


async def test_a_cancel_wins_over_a_hand_over(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2)).run_id)
    await worker.start()
    await store.write(request_cancel, worker.claim.run_id, None)
    assert (await worker.settle(HANDED)).state is RunState.CANCELLED


async def test_any_worker_ends_a_cancelled_run_whose_worker_was_lost(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2, needs="chromium")).run_id)
    await worker.start()
    await store.write(request_cancel, worker.claim.run_id, None)
    await expire_lease(store, worker.claim.run_id)

    assert await offered(store) == [worker.claim.run_id]
    refused = await claimed(store, worker.claim.run_id, owner="w2", offers=frozenset())
    assert refused == NotClaimed(Refusal.ENDED, ada.id)


async def test_what_the_next_step_needs_is_recorded_with_the_result(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 4, needs="git")).run_id)
    await worker.start()

    async def needs() -> str:
        return (await record(store, worker.claim.run_id)).needs

    for given, recorded in (("chromium", "chromium"), (None, "chromium"), ("", "")):
        start = worker.next_start()
        await worker.settle(GoOn(start, StepState.PENDING, 0.5, given))
        worker.index, worker.attempt_id = worker.index + 1, start.attempt_id
        assert await needs() == recorded
    await worker.settle(Pause(0.9, "gpu"))
    assert await needs() == "gpu"
    await store.write(release, worker.fence, None, "the server stops")
    assert await needs() == "gpu"
    again = await working(store, worker.claim.run_id)
    await store.write(release, again.fence, None, "a step needs more", needs="gpu,git")
    assert await needs() == "gpu,git"


async def test_a_retry_needs_what_its_step_needs(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2, needs="git")).run_id)
    await worker.start()
    await worker.settle(Wait(0.0, "again"), AttemptState.FAILED)
    assert (await record(store, worker.claim.run_id)).needs == "git"
    assert await claimed(store, worker.claim.run_id, offers=frozenset()) == NotClaimed(Refusal.LACKS, ada.id)


async def test_a_resume_records_what_its_first_step_needs(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 2, needs="git")).run_id)
    await worker.start()
    await worker.settle(Fail(FAILURE, "too slow"), AttemptState.FAILED)
    found = await store.write(snapshot, worker.claim.run_id)
    assert found is not None
    steps = tuple(ResumeStep(step.id, step.state, rerun=True) for step in found.steps)
    await store.write(resume, Resume(found.run_id, 0, steps, needs="chromium"), queue_limit=10)
    run = await find_run_by_id(store, found.run_id)
    assert run is not None
    assert run.needs == "chromium"


@pytest.mark.postgres
async def test_a_run_leaves_the_machine_of_its_session_after_a_wait(shared: Store):
    store = shared
    ada = await caller(store)
    await seen(store, "home", "@home", "git", seconds_ago=2 * LEASE)
    await seen(store, "other", "@other", "git")
    handed = HandOver(0.5, "@home,git", "step step2 needs a worker on home")
    workers = [await working(store, (await submitted(store, ada.id, 2)).run_id) for _ in range(3)]
    for worker in workers[:2]:
        await worker.start()
        await worker.settle(handed)
    waited, waits, held = (worker.claim.run_id for worker in workers)
    put_back = Sql("UPDATE run SET idle_since = :at WHERE id = :id")
    bind = Sql("UPDATE run SET needs = '@home' WHERE id = :id")

    def prepare(conn: Connection) -> None:
        conn.run(put_back, {"id": waited, "at": conn.bindable(conn.now() - timedelta(seconds=61))})
        conn.run(bind, {"id": held})

    await store.write(prepare)
    await store.write(match_workers, LEASE, 60.0)

    assert await store.write(living_offers, LEASE) == [{"@other", "git"}]
    needs = {run_id: (await record(store, run_id)).needs for run_id in (waited, waits, held)}
    assert needs == {waited: "git", waits: "@home,git", held: "@home"}

    await seen(store, "home", "@home", "git")
    await store.write(match_workers, LEASE, 0.0)
    assert (await record(store, waits)).needs == "@home,git", "its machine is back"


async def test_a_session_is_usable_as_soon_as_a_worker_of_its_machine_lives(store: Store, tmp_path: Path):
    ada = await caller(store)
    run_id = (await submitted(store, ada.id)).run_id
    worker = await working(store, run_id)
    await store.write(start_session, session_id="sess_1", run_id=run_id, step_id=worker.step_id, machine="home")
    resources = make_resources(tmp_path, store, RunLimits())
    assert await usable_sessions(resources, run_id) == {}

    await seen(store, "home", "@home")  # after the fleet was read

    assert await usable_sessions(resources, run_id) == {"sess_1": "home"}


async def test_what_a_worker_offers_is_renewed_with_its_sign_of_life(store: Store):
    await seen(store, "one", "git")
    await seen(store, "one", "git", "chromium")
    assert await store.write(living_offers, LEASE) == [{"git", "chromium"}]
    assert len(await list_workers(store, LEASE)) == 1


async def test_a_run_ends_normally_whatever_it_needed(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 1, needs="git")).run_id, offers=frozenset({"git"}))
    await worker.start()
    assert (await worker.settle(Succeed())).state is RunState.SUCCEEDED


@pytest.mark.postgres
async def test_a_run_that_no_living_worker_serves_waits_without_a_slot(shared: Store):
    store = shared
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    await seen(store, "one", "git")
    first = (await submitted(store, ada.id, needs="chromium")).run_id
    second = (await submitted(store, ada.id, needs="chromium")).run_id
    plain = (await submitted(store, ada.id, needs="git")).run_id

    await store.write(match_workers, LEASE, 60.0)
    await store.write(readmit, ada.id)

    states = {run_id: (await record(store, run_id)).state for run_id in (first, second, plain)}
    assert states == {first: RunState.WAITING, second: RunState.WAITING, plain: RunState.QUEUED}
    assert await offered(store) == [plain], "it has the slot now"
    await seen(store, "two", "git", "chromium")
    await store.write(match_workers, LEASE, 60.0)
    assert (await record(store, first)).state is RunState.QUEUED
    done = await working(store, plain, offers=frozenset({"git"}))
    await done.start()
    await done.settle(Succeed())
    assert await offered(store) == [first]
    moves = await list_events(store, first, PageWindow(limit=100))
    assert [(event.before, event.after) for event in moves] == [
        (None, "queued"),
        ("queued", "waiting"),
        ("waiting", "queued"),
    ]
    await seen(store, "two", "git", "chromium", seconds_ago=2 * LEASE)
    await store.write(match_workers, LEASE, 60.0)
    assert await store.write(request_cancel, first, None) is RunState.CANCELLED


async def lost(store: Store, caller_id: str, *, starts: bool = True) -> Worker:
    """A worker that was lost with its run, in the middle of its first step or before it."""
    run_id = (await submitted(store, caller_id, needs="chromium")).run_id
    worker = await working(store, run_id, owner="lost", offers=frozenset({"chromium"}))
    if starts:
        await worker.start()
    await expire_lease(store, run_id)
    return worker


@pytest.mark.postgres
async def test_the_run_of_a_lost_worker_that_nobody_else_serves_waits_without_a_slot(shared: Store):
    store = shared
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    await seen(store, "other", "git")
    worker = await lost(store, ada.id)
    run_id = worker.claim.run_id
    plain = (await submitted(store, ada.id, needs="git")).run_id

    await store.write(match_workers, LEASE, 60.0)
    await store.write(readmit, ada.id)

    run = await record(store, run_id)
    assert (run.state, run.owner, run.lease_until, run.needs) == (RunState.WAITING, None, None, "chromium")
    assert await offered(store) == [plain], "it has the slot now"
    (waiting, _) = await list_queue(store)
    assert (waiting.needs, waiting.runs) == (("chromium",), 1)
    steps = await steps_of_runs(store, [run_id])
    assert [step.state for step in steps[run_id]] == [StepState.PENDING, StepState.PENDING]
    with pytest.raises(LostLeaseError):  # it was only frozen
        await worker.settle(Succeed())

    await seen(store, "able", "chromium")
    await store.write(match_workers, LEASE, 60.0)
    assert (await record(store, run_id)).state is RunState.QUEUED
    done = await working(store, plain, offers=frozenset({"git"}))
    await done.to_the_end()
    again = await claimed(store, run_id, owner="able", offers=frozenset({"chromium"}))
    assert isinstance(again, Claim)
    assert (again.lost_attempt, again.lost_in_row, again.taken_over) == (worker.attempt_id, 1, True)
    assert (again.deadline_at - again.now).total_seconds() == pytest.approx(60, abs=LEASE + 5)
    moves = await list_events(store, run_id, PageWindow(limit=100))
    assert [(event.after, event.reason) for event in moves if event.type == EventType.RUN_STATE.value][2:] == [
        ("waiting", "its worker was lost, and no living worker has what it needs"),
        ("queued", "a worker has what it needs"),
        ("running", "able took over from lost, which was lost"),
    ]
    (takeover,) = (await takeovers_of_runs(store, [run_id]))[run_id]
    assert (takeover.worker, takeover.previous_worker, takeover.lost) == ("able", "lost", True)


@pytest.mark.postgres
async def test_losses_count_across_waits_for_a_worker(shared: Store):
    """Guarantee E5: else a step that kills its worker would do so for ever."""
    store = shared
    ada = await caller(store)
    await seen(store, "other", "git")
    run_id = (await lost(store, ada.id, starts=False)).claim.run_id
    for count in range(1, 4):
        await store.write(match_workers, LEASE, 60.0)
        await seen(store, "able", "chromium")
        await store.write(match_workers, LEASE, 60.0)
        await store.write(readmit, ada.id)
        again = await claimed(store, run_id, owner="able", offers=frozenset({"chromium"}))
        assert isinstance(again, Claim)
        assert (again.lost_attempt, again.lost_in_row) == (None, count)
        await seen(store, "able", "chromium", seconds_ago=2 * LEASE)  # a sign of life renews its lease
        await expire_lease(store, run_id)


@pytest.mark.postgres
async def test_without_any_worker_the_runs_of_lost_ones_wait_whatever_they_need(shared: Store):
    store = shared
    ada = await caller(store)
    run_id = (await submitted(store, ada.id)).run_id
    await (await working(store, run_id)).start()
    await store.write(match_workers, LEASE, 60.0)
    assert (await record(store, run_id)).state is RunState.RUNNING, "its lease is good"
    await expire_lease(store, run_id)
    await store.write(match_workers, LEASE, 60.0)
    assert (await record(store, run_id)).state is RunState.WAITING
    await seen(store, "one")
    await store.write(match_workers, LEASE, 60.0)
    assert (await record(store, run_id)).state is RunState.QUEUED


@pytest.mark.postgres
async def test_a_run_whose_time_has_come_waits_for_a_worker_only(shared: Store):
    store = shared
    ada = await caller(store)
    await seen(store, "one", "git")
    retried = await working(store, (await submitted(store, ada.id, needs="chromium")).run_id)
    await retried.start()
    await retried.settle(Wait(30.0, "a retry"), AttemptState.FAILED)
    run_id = retried.claim.run_id
    await store.write(match_workers, LEASE, 60.0)
    assert await list_queue(store) == []
    past = Sql("UPDATE run SET not_before = :past WHERE id = :id")
    await store.write(lambda conn: conn.run(past, {"id": run_id, "past": conn.later(-5)}))

    await store.write(match_workers, LEASE, 60.0)

    (waiting,) = await list_queue(store)
    assert (waiting.needs, waiting.runs) == (("chromium",), 1)
    await seen(store, "able", "chromium")
    await store.write(match_workers, LEASE, 60.0)
    await store.write(readmit, ada.id)
    again = await claimed(store, run_id, owner="able", offers=frozenset({"chromium"}))
    assert isinstance(again, Claim)
