"""The units that move a run, over both databases: one owner, gapless events, one end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from store.database.dialects import Sql
from store.database.ids import new_id
from store.database.paging import PageWindow
from store.database.wakes import Topic
from store.files.artifacts import artifacts_of_attempts, artifacts_of_steps
from store.models.runs import RUN, RUN_STEP
from store.runs.admission import set_caller_limit
from store.runs.claim import Due, claim, due, release_leases, renew, snapshot
from store.runs.claimed_run import fail_run, record_progress, release, rewind
from store.runs.commands import acknowledge, delete_run, request_cancel, resume
from store.runs.events import list_events
from store.runs.reads import RunFilter, find_run_by_id, list_runs
from store.runs.settle import fail_step, settle
from store.runs.step_reads import attempt_payloads, steps_of_runs
from store.runs.submit import submit
from store.runs.unit_types import (
    Claim,
    Fail,
    FailNext,
    Fence,
    IdempotencyClashError,
    LostLeaseError,
    NewArtifact,
    NewStep,
    NotClaimed,
    Pause,
    QueueFullError,
    Refusal,
    Resume,
    ResumeStep,
    Settled,
    Submitted,
    Succeed,
    Wait,
    WrongStateError,
)
from store.states import FINAL_RUN_STATES, AttemptState, EventType, RunState, StepState
from tests.support.heard import Heard
from tests.support.rows import caller
from tests.support.run_rows import attempts_of_run, record
from tests.support.runs import FAILURE, LEASE, claimed, expire_lease, new_run, submitted, working

if TYPE_CHECKING:
    from store.database.engine import Store
    from store.runs.events import EventRecord
    from store.runs.step_reads import StepRecord


async def events(store: Store, run_id: str) -> list[EventRecord]:
    """A run's events, whose numbers must have no gap and must end before the run's next one."""
    found = await list_events(store, run_id, PageWindow(limit=10_000))
    assert [event.sequence for event in found] == list(range(1, len(found) + 1))
    assert (await record(store, run_id)).next_seq == len(found) + 1
    return found


async def ends(store: Store, run_id: str) -> list[str]:
    return [
        str(event.after)
        for event in await events(store, run_id)
        if event.type == EventType.RUN_STATE and event.after in FINAL_RUN_STATES
    ]


async def steps(store: Store, run_id: str) -> list[StepRecord]:
    return (await steps_of_runs(store, [run_id]))[run_id]


# ------------------------------------------------------------------------------------------------ starting


async def test_a_start_writes_the_run_its_steps_and_its_first_event(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 3)
    assert made.started
    run = await record(store, made.run_id)
    assert (run.state, run.caller_id, run.progress, run.epoch) == (RunState.QUEUED, ada.id, 0.0, 0)
    assert [(step.key, step.position, step.state) for step in await steps(store, made.run_id)] == [
        ("step1", 1, StepState.PENDING),
        ("step2", 2, StepState.PENDING),
        ("step3", 3, StepState.PENDING),
    ]
    (first,) = await events(store, made.run_id)
    assert (first.type, first.before, first.after) == ("run_state", None, "queued")


async def test_a_wrong_guess_of_the_next_number_leaves_no_gap(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 3)).run_id)
    await worker.start()
    for guess in (None, 1, 99):
        worker.fence.next_seq = guess
        if guess == 99:
            await worker.settle(Succeed())
        else:
            await worker.go_on()
    told = [(event.type, event.after) for event in await events(store, worker.claim.run_id)]
    assert told[-3:] == [("attempt_state", "succeeded"), ("step_state", "succeeded"), ("run_state", "succeeded")]


async def test_more_events_than_one_statement_takes_keep_their_order(store: Store):
    ada = await caller(store)
    worker = await working(store, (await submitted(store, ada.id, 1)).run_id)
    await worker.start()
    made = tuple(
        NewArtifact(new_id("art"), f"{number}.txt", "text/plain", 1, "d" * 64, "stored") for number in range(20)
    )
    await worker.settle(Succeed(), artifacts=made)
    found = [event for event in await events(store, worker.claim.run_id) if event.artifact_id]
    assert [event.artifact_id for event in found] == [artifact.id for artifact in made]
    assert {(event.type, event.after, event.step_id) for event in found} == {("artifact", "stored", worker.step_id)}


async def test_of_many_same_starts_at_once_one_makes_a_run(store: Store):
    ada = await caller(store)
    made = await asyncio.gather(*(submitted(store, ada.id, flight="tea") for _ in range(12)))
    assert len({each.run_id for each in made}) == 1
    assert sum(each.started for each in made) == 1
    assert sum(each.coalesced for each in made) == 11


async def test_a_start_never_coalesces_onto_a_run_that_is_over_or_dead(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, flight="tea")
    await (await working(store, first.run_id)).to_the_end()
    second = await submitted(store, ada.id, flight="tea")
    assert second.started
    await working(store, second.run_id)
    assert (await submitted(store, ada.id, flight="tea")).coalesced
    await expire_lease(store, second.run_id)
    third = await submitted(store, ada.id, flight="tea")
    assert third.started
    assert third.run_id != second.run_id


async def test_an_idempotency_key_gets_its_run_in_any_state_and_clashes_with_another_request(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    same = {"idempotency_key": "k", "request_digest": "r"}
    made = await asyncio.gather(*(submitted(store, ada.id, **same) for _ in range(6)))
    assert len({each.run_id for each in made}) == 1
    assert sum(each.replayed for each in made) == 5
    await (await working(store, made[0].run_id)).to_the_end()
    assert await submitted(store, ada.id, **same) == Submitted(made[0].run_id, replayed=True)
    with pytest.raises(IdempotencyClashError):
        await submitted(store, ada.id, idempotency_key="k", request_digest="other")
    assert (await submitted(store, bob.id, **same)).started
    old = Sql("UPDATE run SET created_at = :old WHERE id = :id")
    day_ago = datetime.now(UTC) - timedelta(hours=25)
    await store.write(lambda conn: conn.run(old, {"old": day_ago, "id": made[0].run_id}))
    assert (await submitted(store, ada.id, idempotency_key="k", request_digest="other")).started


async def test_starts_at_the_same_moment_never_exceed_the_queue_limit(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 0)  # all of them wait
    for limit in range(2, 40, 2):
        answers = await asyncio.gather(
            *(submitted(store, ada.id, queue_limit=limit) for _ in range(16)), return_exceptions=True
        )
        assert sum(isinstance(answer, Submitted) for answer in answers) == 2
        assert sum(isinstance(answer, QueueFullError) for answer in answers) == 14


async def test_a_full_queue_keeps_nobody_from_joining_a_run_that_is_in_it(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 0)  # all of them wait
    first = await submitted(store, ada.id, flight="tea", queue_limit=1)
    joined = await submitted(store, ada.id, flight="tea", queue_limit=1)
    assert (joined.run_id, joined.coalesced) == (first.run_id, True)
    with pytest.raises(QueueFullError):
        await submitted(store, ada.id, flight="coffee", queue_limit=1)


async def test_beyond_the_queue_limit_starts_are_refused(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 0)  # all of them wait
    for _ in range(3):
        await submitted(store, ada.id, queue_limit=3)
    with pytest.raises(QueueFullError) as refused:
        await submitted(store, ada.id, queue_limit=3)
    assert refused.value.waiting == 3


async def test_what_fails_after_a_start_takes_the_start_along(store: Store):
    ada = await caller(store)

    def start_and_fail(conn: object) -> None:
        submit(conn, new_run(ada.id), queue_limit=10)  # type: ignore[arg-type]
        raise LookupError

    with pytest.raises(LookupError):
        await store.write(start_and_fail)
    for table in (RUN, RUN_STEP):
        assert (await store.read(select(func.count()).select_from(table))).all() == [(0,)]


# ------------------------------------------------------------------------------------------------ claiming


async def test_of_many_claims_at_once_one_gets_the_run(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id)
    answers = await asyncio.gather(*(claimed(store, made.run_id, owner=f"w{n}") for n in range(12)))
    taken = [answer for answer in answers if isinstance(answer, Claim)]
    assert len(taken) == 1
    assert taken[0].epoch == 1
    refusals = {answer.reason for answer in answers if isinstance(answer, NotClaimed)}
    assert refusals == {Refusal.HELD}
    assert taken[0].subject == "ada"
    assert [step.key for step in taken[0].steps] == ["step1", "step2"]


async def test_a_caller_never_has_more_runs_than_it_may(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    await store.write(set_caller_limit, 3)
    mine = [(await submitted(store, ada.id)).run_id for _ in range(8)]
    other = (await submitted(store, bob.id)).run_id
    answers = await asyncio.gather(*(claimed(store, run_id) for run_id in (*mine, other)))
    taken = [answer for answer in answers if isinstance(answer, Claim)]
    assert len([each for each in taken if each.caller_id == ada.id]) == 3
    assert len([each for each in taken if each.caller_id == bob.id]) == 1
    assert {each.reason for each in answers if isinstance(each, NotClaimed)} == {Refusal.NOT_ADMITTED}


async def test_a_claim_of_nothing_is_refused(store: Store):
    ada = await caller(store)
    assert await claimed(store, "run_nothing") == NotClaimed(Refusal.GONE)
    made = await submitted(store, ada.id, 1)
    await (await working(store, made.run_id)).to_the_end()
    gone = await claimed(store, made.run_id)
    assert isinstance(gone, NotClaimed)
    assert gone.reason is Refusal.GONE


async def test_renewing_tells_of_cancels_and_of_runs_that_were_taken_over(store: Store):
    ada = await caller(store)
    kept, cancelled, lost = [(await submitted(store, ada.id)).run_id for _ in range(3)]
    for run_id in (kept, cancelled, lost):
        await working(store, run_id, owner="w1")
    await store.write(request_cancel, cancelled, "enough")
    await expire_lease(store, lost)
    await working(store, lost, owner="w2")
    assert await store.write(renew, "w1", 30.0) == {kept: (1, False), cancelled: (1, True)}
    assert await store.write(renew, "w3", 30.0) == {}


# ------------------------------------------------------------------------------------------------ working


async def test_a_run_walks_to_its_end_with_one_event_for_each_change(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    worker = await working(store, made.run_id)
    assert await worker.to_the_end() == Settled(RunState.SUCCEEDED)
    run = await record(store, made.run_id)
    assert (run.state, run.progress, run.owner, run.lease_until) == (RunState.SUCCEEDED, 1.0, None, None)
    assert run.ended_at is not None
    told = [(event.type, event.after) for event in await events(store, made.run_id)]
    assert told == [
        ("run_state", "queued"),
        ("run_state", "running"),
        ("step_state", "running"),
        ("attempt_state", "running"),
        ("attempt_state", "succeeded"),
        ("step_state", "succeeded"),
        ("step_state", "running"),
        ("attempt_state", "running"),
        ("attempt_state", "succeeded"),
        ("step_state", "succeeded"),
        ("run_state", "succeeded"),
    ]
    attempts = await attempts_of_run(store, made.run_id)
    payloads = await attempt_payloads(store, [attempt.id for attempt in attempts])
    assert {payload.output for payload in payloads.values()} == {'{"b":2}'}
    for step in await steps(store, made.run_id):
        assert (step.state, step.progress, step.attempts) == (StepState.SUCCEEDED, 1.0, 1)


async def test_a_worker_that_lost_the_run_writes_nothing(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    old = await working(store, made.run_id, owner="w1")
    await old.start()
    await expire_lease(store, made.run_id)
    new = await working(store, made.run_id, owner="w2")
    assert new.claim.epoch == 2
    assert new.claim.lost_attempt == old.attempt_id
    assert new.claim.lost_in_row == 1
    before = await events(store, made.run_id)
    for write in (
        old.go_on(),
        old.settle(Succeed()),
        old.settle(Fail(FAILURE, "x"), AttemptState.FAILED),
        store.write(fail_run, old.fence, Fail(FAILURE, "x")),
        store.write(release, old.fence, None, "x"),
        store.write(rewind, old.fence, [old.step_id], "x"),
        store.write(record_progress, old.fence, old.step_id, 0.5, "[]", "{}"),
    ):
        with pytest.raises(LostLeaseError):
            await write
    assert await events(store, made.run_id) == before
    new.claim = new.claim._replace(steps=tuple(step._replace(attempts=1) for step in new.claim.steps))
    await new.start()
    await new.settle(Pause(0.5))
    new.claim = new.claim._replace(steps=tuple(step._replace(attempts=0) for step in new.claim.steps))
    await new.start(1)
    assert (await new.settle(Succeed())).state is RunState.SUCCEEDED
    attempts = await attempts_of_run(store, made.run_id)
    assert sorted(attempt.state for attempt in attempts) == ["lost", "succeeded", "succeeded"]


async def test_an_attempt_is_settled_once(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    worker = await working(store, made.run_id)
    await worker.start()
    answers = await asyncio.gather(
        *(store.write(settle, worker.fence, worker.ended(), Pause(0.5), artifact_days=7) for _ in range(4)),
        return_exceptions=True,
    )
    assert sum(isinstance(answer, Settled) for answer in answers) == 1
    assert sum(isinstance(answer, LostLeaseError) for answer in answers) == 3
    await events(store, made.run_id)


async def test_artifacts_come_with_their_attempt_and_expire_after_success(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    files = tuple(NewArtifact(new_id("art"), f"f{n}", "text/plain", 2**33, "c" * 64, "stored") for n in range(2))
    await worker.settle(Succeed(), artifacts=files)
    of_steps = await artifacts_of_steps(store, [worker.step_id, "step_x"])
    assert of_steps["step_x"] == []
    found = of_steps[worker.step_id]
    assert {each.id for each in found} == {each.id for each in files}
    assert {(each.caller_id, each.attempt_id, each.size_bytes) for each in found} == {
        (ada.id, worker.attempt_id, 2**33)
    }
    run = await record(store, made.run_id)
    assert run.ended_at is not None
    assert {each.expires_at for each in found} == {run.ended_at + timedelta(days=7)}
    told = [event.artifact_id for event in await events(store, made.run_id) if event.type == "artifact"]
    assert set(told) == {each.id for each in files}


async def test_a_wait_is_stored_and_not_claimed_before_its_time(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    waits = await worker.settle(Wait(3600, "retry 2 of 3"), AttemptState.FAILED)
    later = waits.not_before
    assert waits == Settled(RunState.WAITING, False, 3600, later)
    refused = await claimed(store, made.run_id)
    assert isinstance(refused, NotClaimed)
    assert (refused.reason, refused.not_before) == (Refusal.LATER, later)
    assert refused.wait_seconds == pytest.approx(3600, abs=60), "told by the store's clock"
    assert await store.write(due, LEASE) == [Due(made.run_id, 0, pytest.approx(3600, abs=60), later)]
    (step,) = await steps(store, made.run_id)
    assert (step.state, step.wait_until) == (StepState.WAITING, later)
    sooner = Sql("UPDATE run SET not_before = :now WHERE id = :id")
    await store.write(lambda conn: conn.run(sooner, {"now": conn.now(), "id": made.run_id}))
    again = await working(store, made.run_id)
    assert again.claim.steps[0].attempts == 1
    await again.start()
    assert (await again.settle(Succeed())).state is RunState.SUCCEEDED
    await events(store, made.run_id)


async def test_a_failed_step_fails_its_run_and_can_be_found_by_its_message(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    worker = await working(store, made.run_id)
    await worker.start()
    settled = await worker.settle(Fail(FAILURE, "Too Slow"), AttemptState.FAILED)
    assert settled == Settled(RunState.FAILED, failure=FAILURE)
    run = await record(store, made.run_id)
    assert (run.state, run.failure) == (RunState.FAILED, FAILURE)
    found = await list_runs(store, RunFilter(text="too slow", needs_attention=True), PageWindow())
    assert [each.id for each in found] == [made.run_id]
    await store.write(acknowledge, made.run_id, acknowledged=True)
    assert await list_runs(store, RunFilter(needs_attention=True), PageWindow()) == []
    assert await ends(store, made.run_id) == ["failed"]


async def test_a_step_whose_input_does_not_resolve_fails_with_an_attempt_of_its_own(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 2)
    worker = await working(store, first.run_id)
    await worker.start()
    start = worker.next_start()._replace(input=None)
    settled = await worker.settle(FailNext(start, StepState.PENDING, FAILURE, "no such field"))
    assert settled == Settled(RunState.FAILED, failure=FAILURE)
    assert [step.state for step in await steps(store, first.run_id)] == [StepState.SUCCEEDED, StepState.FAILED]

    second = await submitted(store, ada.id, 1)
    worker = await working(store, second.run_id)
    start = worker.next_start(0)._replace(input=None)
    await store.write(fail_step, worker.fence, start, StepState.PENDING, Fail(FAILURE, "no such field"))
    for run_id in (first.run_id, second.run_id):
        assert await ends(store, run_id) == ["failed"]
        attempts = await attempts_of_run(store, run_id)
        assert attempts[-1].failure == FAILURE


async def test_the_deadline_ends_a_run_between_steps_and_at_its_last_result(store: Store):
    ada = await caller(store)
    late, done, failed = [(await submitted(store, ada.id, 1, deadline_seconds=-1.0)).run_id for _ in range(3)]
    worker = await working(store, late)
    assert (await worker.start()).state is RunState.FAILED, "nothing begins after the deadline"
    assert "timeout" in str((await record(store, late)).failure)
    assert await ends(store, late) == ["failed"]
    forward = Sql("UPDATE run SET deadline_at = :at WHERE id = :id")
    for run_id, then, state in (
        (done, Succeed(), AttemptState.SUCCEEDED),
        (failed, Fail(FAILURE, "no such field"), AttemptState.FAILED),
    ):
        other = await working(store, run_id)
        values = {"id": run_id}
        await store.write(lambda conn, to=values: conn.run(forward, {"at": conn.now() + timedelta(seconds=60), **to}))
        await other.start()
        await store.write(lambda conn, to=values: conn.run(forward, {"at": conn.now() - timedelta(seconds=60), **to}))
        assert (await other.settle(then, state)).state is RunState.FAILED
        assert [attempt.state for attempt in await attempts_of_run(store, run_id)] == [state], "its result is kept"
    assert "timeout" in str((await record(store, done)).failure)
    assert (await record(store, failed)).failure == FAILURE, "what went wrong tells more than the deadline"


async def test_progress_is_an_event_with_what_was_said(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    await store.write(record_progress, worker.fence, worker.step_id, 0.25, '[{"message":"x"}]', '{"message":"x"}')
    await store.write(record_progress, worker.fence, worker.step_id, None, "[]", '{"message":"y"}')
    told = [event.data for event in await events(store, made.run_id) if event.type == "step_progress"]
    assert told == ['{"message":"x"}', '{"message":"y"}']


# ------------------------------------------------------------------------------------------------ cancelling


@pytest.mark.parametrize("state", ["queued", "waiting"])
async def test_a_cancel_ends_at_once_what_nobody_holds(store: Store, state: str):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, flight="tea")
    if state == "waiting":
        worker = await working(store, made.run_id)
        await worker.start()
        await worker.settle(Wait(3600, "r"), AttemptState.FAILED)
    assert await store.write(request_cancel, made.run_id, "enough") is RunState.CANCELLED
    with pytest.raises(WrongStateError) as refused:
        await store.write(request_cancel, made.run_id, "again")
    assert refused.value.state is RunState.CANCELLED
    assert await ends(store, made.run_id) == ["cancelled"]
    assert (await submitted(store, ada.id, 1, flight="tea")).started


async def test_a_cancel_of_nothing_is_told_apart(store: Store):
    with pytest.raises(WrongStateError) as refused:
        await store.write(request_cancel, "run_nothing", None)
    assert refused.value.state is None


async def test_a_committed_cancel_wins_over_the_result_which_is_kept(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    worker = await working(store, made.run_id)
    await worker.start()
    heard = Heard(store)
    assert await store.write(request_cancel, made.run_id, "enough") is RunState.CANCELLING
    assert await store.write(request_cancel, made.run_id, "enough") is RunState.CANCELLING
    await heard.until((Topic.RUN_CANCELLING, made.run_id))
    assert await worker.settle(Succeed()) == Settled(RunState.CANCELLED)
    first, second = await steps(store, made.run_id)
    assert (first.state, second.state) == (StepState.SUCCEEDED, StepState.PENDING)
    assert await ends(store, made.run_id) == ["cancelled"]


async def test_a_cancel_whose_worker_is_dead_is_finished_by_whoever_claims(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    await store.write(request_cancel, made.run_id, None)
    await expire_lease(store, made.run_id)
    refused = await claimed(store, made.run_id, owner="w2")
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.ENDED
    assert await ends(store, made.run_id) == ["cancelled"]
    (step,) = await steps(store, made.run_id)
    assert step.state is StepState.CANCELLED


async def test_a_cancel_that_races_with_the_end_leaves_exactly_one_end(store: Store):
    ada = await caller(store)
    for _ in range(8):
        made = await submitted(store, ada.id, 1)
        worker = await working(store, made.run_id)
        await worker.start()
        answers = await asyncio.gather(
            worker.settle(Succeed()), store.write(request_cancel, made.run_id, None), return_exceptions=True
        )
        unexpected = [
            each for each in answers if isinstance(each, BaseException) and not isinstance(each, WrongStateError)
        ]
        assert unexpected == []
        assert len(await ends(store, made.run_id)) == 1


# ------------------------------------------------------------------------------------------------ giving back


async def test_a_released_run_goes_first_and_its_attempt_is_lost(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 2)
    worker = await working(store, first.run_id)
    await worker.start()
    second = await submitted(store, ada.id, 2)
    await store.write(release, worker.fence, (worker.step_id, worker.attempt_id), "the server stops")
    found = await store.write(due, LEASE)
    assert [each.run_id for each in found] == [first.run_id, second.run_id]
    assert found[0].priority < found[1].priority
    again = await working(store, first.run_id, owner="w2")
    assert again.claim.steps[0].state is StepState.PENDING
    assert again.claim.lost_attempt is None
    await events(store, first.run_id)


async def test_at_boot_every_lease_is_released_and_the_runs_are_due(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    await (await working(store, made.run_id)).start()
    assert await store.write(due, LEASE) == []
    assert await store.write(release_leases) == 1
    assert [each.run_id for each in await store.write(due, LEASE)] == [made.run_id]
    again = await working(store, made.run_id, owner="w2")
    assert again.claim.lost_attempt is not None


# ------------------------------------------------------------------------------------------------ resuming


async def failed_run(store: Store, caller_id: str) -> str:
    made = await submitted(store, caller_id, 2)
    worker = await working(store, made.run_id)
    await worker.start()
    await worker.go_on()
    await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)
    return made.run_id


async def plan(store: Store, run_id: str) -> Resume:
    found = await store.write(snapshot, run_id)
    assert found is not None
    parts = tuple(
        ResumeStep(step.id, step.state, step.state is not StepState.SUCCEEDED, '{"fixed":1}') for step in found.steps
    )
    return Resume(run_id, found.resume_count, parts)


async def test_a_resume_goes_on_at_the_failed_step_and_ends_once_more(store: Store):
    ada = await caller(store)
    run_id = await failed_run(store, ada.id)
    await store.write(resume, await plan(store, run_id), queue_limit=10)
    run = await record(store, run_id)
    assert (run.state, run.resume_count, run.ended_at, run.progress) == (RunState.QUEUED, 1, None, 0.5)
    worker = await working(store, run_id)
    first, second = worker.claim.steps
    assert (first.state, first.output) == (StepState.SUCCEEDED, '{"b":2}')
    assert (second.state, second.attempts, second.stretch_attempts) == (StepState.PENDING, 1, 0)
    assert second.input_override == '{"fixed":1}'
    await worker.start(1)
    assert (await worker.settle(Succeed())).state is RunState.SUCCEEDED
    assert await ends(store, run_id) == ["failed", "succeeded"]
    assert (await record(store, run_id)).failure is None


async def test_of_two_resumes_decided_on_the_same_state_one_is_refused(store: Store):
    ada = await caller(store)
    run_id = await failed_run(store, ada.id)
    change = await plan(store, run_id)
    answers = await asyncio.gather(
        *(store.write(resume, change, queue_limit=10) for _ in range(3)), return_exceptions=True
    )
    assert sum(answer is None for answer in answers) == 1
    assert sum(isinstance(answer, WrongStateError) for answer in answers) == 2


async def test_a_resume_with_another_definition_keeps_replaces_and_adds_steps(store: Store):
    ada = await caller(store)
    run_id = await failed_run(store, ada.id)
    change = await plan(store, run_id)
    kept, failed = change.steps
    change = replace(
        change,
        steps=(kept,),
        added_steps=(NewStep("middle", 2, "demo.echo", "2.0.0"), NewStep("last", 3, "demo.echo", "2.0.0")),
        retired_steps=(failed.step_id,),
        moved_steps={kept.step_id: NewStep("step1", 1, "demo.echo", "1.0.0")},
    )
    await store.write(resume, change, queue_limit=10)
    assert [step.key for step in await steps(store, run_id)] == ["step1", "middle", "last"]
    worker = await working(store, run_id)
    assert [step.key for step in worker.claim.steps] == ["step1", "middle", "last"]


@pytest.mark.parametrize("state", [RunState.QUEUED, RunState.RUNNING, RunState.SUCCEEDED])
async def test_only_failed_and_cancelled_runs_are_resumed(store: Store, state: RunState):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    if state is not RunState.QUEUED:
        worker = await working(store, made.run_id)
        if state is RunState.SUCCEEDED:
            await worker.to_the_end()
    with pytest.raises(WrongStateError) as refused:
        await store.write(resume, Resume(made.run_id, 0, ()), queue_limit=10)
    assert refused.value.state is state


async def test_a_rerun_starts_with_the_recorded_outputs_of_the_steps_before(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 2)
    await (await working(store, first.run_id)).to_the_end()
    source = (await store.write(snapshot, first.run_id)).steps[0]  # type: ignore[union-attr]
    parts = (
        NewStep("step1", 1, "demo.echo", "1.0.0", source.attempt_id, first.run_id),
        NewStep("step2", 2, "demo.echo", "1.0.0"),
    )
    again = await submitted(store, ada.id, steps=2, rerun_of=first.run_id)
    again = await store.write(
        submit, replace(new_run(ada.id), steps=parts, rerun_of=first.run_id, cause="rerun"), queue_limit=10
    )
    worker = await working(store, again.run_id)
    assert (worker.claim.steps[0].state, worker.claim.steps[0].output) == (StepState.SUCCEEDED, '{"b":2}')
    assert (await record(store, again.run_id)).progress == 0.5
    attempts = await attempts_of_run(store, again.run_id)
    assert [each.reused_from for each in attempts] == [source.attempt_id]
    await events(store, again.run_id)


async def test_rewound_steps_run_again(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    worker = await working(store, made.run_id)
    await worker.start()
    await worker.settle(Pause(0.5), session_id="sess_1")
    await store.write(rewind, worker.fence, [worker.step_id], "its session is gone")
    first, _ = await steps(store, made.run_id)
    assert (first.state, first.session_id) == (StepState.PENDING, None)
    await events(store, made.run_id)


# ------------------------------------------------------------------------------------------------ the rest


async def test_only_final_runs_are_deleted_with_all_they_made(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    with pytest.raises(WrongStateError):
        await store.write(delete_run, made.run_id)
    worker = await working(store, made.run_id)
    await worker.start()
    await worker.settle(Succeed(), artifacts=(NewArtifact(new_id("art"), "f", "t/p", 1, "c" * 64, "stored"),))
    await store.write(delete_run, made.run_id)
    assert await find_run_by_id(store, made.run_id) is None
    assert (await artifacts_of_attempts(store, [worker.attempt_id]))[worker.attempt_id] == []
    with pytest.raises(WrongStateError):
        await store.write(delete_run, made.run_id)


async def test_many_runs_at_once_all_end_with_gapless_events(store: Store):
    callers = [await caller(store, f"c{n}") for n in range(4)]

    async def walk(caller_id: str) -> str:
        made = await submitted(store, caller_id, 3)
        await (await working(store, made.run_id)).to_the_end()
        return made.run_id

    ran = await asyncio.gather(*(walk(callers[n % 4].id) for n in range(24)))
    for run_id in ran:
        assert await ends(store, run_id) == ["succeeded"]


async def test_a_fence_of_another_run_writes_nothing(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    with pytest.raises(LostLeaseError):
        await store.write(fail_run, Fence(made.run_id, 0, ada.id, 30.0), Fail(FAILURE, "x"))
    assert (await record(store, made.run_id)).state is RunState.QUEUED
    assert await store.write(claim, made.run_id, owner="w", lease_seconds=30.0)
