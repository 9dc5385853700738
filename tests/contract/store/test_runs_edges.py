"""Corners of moving a run, over both databases: who is dead, what counts, what comes back."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from store.database.dialects import Sql
from store.database.errors import StoreError
from store.database.ids import new_id
from store.database.paging import PageWindow
from store.files.artifacts import artifacts_of_attempts
from store.maintenance.retention import prune_runs
from store.runs.admission import set_caller_limit
from store.runs.claim import abandon, claim, due, release_leases, snapshot
from store.runs.claimed_run import release
from store.runs.commands import delete_run, request_cancel, resume
from store.runs.idempotency_keys import find_earlier_start, sweep_spent_keys
from store.runs.logs import append_log_lines, list_log
from store.runs.sessions import find_sessions, start_session
from store.runs.settle import finish_run, settle
from store.runs.step_reads import find_steps, steps_of_runs
from store.runs.submit import submit
from store.runs.unit_types import (
    Claim,
    Fail,
    IdempotencyClashError,
    LostLeaseError,
    NewArtifact,
    NewStep,
    NotClaimed,
    Refusal,
    Resume,
    ResumeStep,
    Settled,
    SpentKeyError,
    Succeed,
    Wait,
)
from store.states import AttemptState, RunState, StepState
from tests.support.rows import caller, insert
from tests.support.run_rows import attempts_of_run, record
from tests.support.runs import FAILURE, LEASE, Worker, claimed, expire_lease, new_run, submitted, working

if TYPE_CHECKING:
    from store.database.dialects import Connection
    from store.database.engine import Store


async def change(store: Store, run_id: str, **instants: float) -> None:
    """Sets instants of a run, by column, to so many seconds from one and the same now."""
    columns = ", ".join(f"{column} = :{column}" for column in instants)
    statement = Sql(f"UPDATE run SET {columns} WHERE id = :id")

    def unit(conn: Connection) -> None:
        now = conn.now()
        conn.run(statement, {"id": run_id, **{name: now + timedelta(seconds=at) for name, at in instants.items()}})

    await store.write(unit)


async def resumed(store: Store, run_id: str, **changes: Any) -> None:
    found = await store.write(snapshot, run_id)
    assert found is not None
    parts = tuple(ResumeStep(step.id, step.state, step.state is not StepState.SUCCEEDED) for step in found.steps)
    await store.write(resume, replace(Resume(run_id, found.resume_count, parts), **changes), queue_limit=100)


# ------------------------------------------------------------------------------------------------ cancelling


async def test_a_cancel_of_a_run_no_living_worker_holds_ends_it_at_once(store: Store):
    ada = await caller(store)
    for already in (False, True):
        made = await submitted(store, ada.id, 2)
        worker = await working(store, made.run_id)
        await worker.start()
        if already:
            assert await store.write(request_cancel, made.run_id, "first") is RunState.CANCELLING
        await expire_lease(store, made.run_id)
        assert await store.write(request_cancel, made.run_id, "enough") is RunState.CANCELLED
        (step, _) = (await steps_of_runs(store, [made.run_id]))[made.run_id]
        (attempt,) = await attempts_of_run(store, made.run_id)
        assert (step.state, attempt.state) == (StepState.CANCELLED, AttemptState.CANCELLED)
        with pytest.raises(LostLeaseError):
            await worker.settle(Succeed())


async def test_a_released_run_that_was_cancelled_ends(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    await store.write(request_cancel, made.run_id, None)
    await store.write(release, worker.fence, (worker.step_id, worker.attempt_id), "the server stops")
    (step,) = (await steps_of_runs(store, [made.run_id]))[made.run_id]
    assert (step.state, (await record(store, made.run_id)).state) == (StepState.CANCELLED, RunState.CANCELLED)


async def test_a_run_cancelled_after_its_last_result_is_finished_by_a_resume(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    await store.write(request_cancel, made.run_id, None)
    assert await worker.settle(Succeed()) == Settled(RunState.CANCELLED)
    await resumed(store, made.run_id)
    again = await working(store, made.run_id)
    assert await store.write(finish_run, again.fence, artifact_days=7) == Settled(RunState.SUCCEEDED)
    with pytest.raises(LostLeaseError):
        await store.write(finish_run, again.fence, artifact_days=7)


# ------------------------------------------------------------------------------------------------ slots


async def test_a_final_run_refuses_with_its_caller(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    await (await working(store, made.run_id)).to_the_end()
    assert await claimed(store, made.run_id) == NotClaimed(Refusal.GONE, ada.id)


async def test_a_takeover_needs_no_slot_of_its_own(store: Store):
    ada = await caller(store)
    await store.write(set_caller_limit, 1)
    first, second = [(await submitted(store, ada.id, 1)).run_id for _ in range(2)]
    await working(store, first)
    await expire_lease(store, first)
    assert isinstance(await claimed(store, first, owner="w2"), Claim)
    refused = await claimed(store, second, owner="w2")
    assert isinstance(refused, NotClaimed)
    assert refused.reason is Refusal.NOT_ADMITTED


async def test_what_a_lost_worker_had_under_way_is_due_before_what_waits(store: Store):
    ada = await caller(store)
    waiting, lost = [(await submitted(store, ada.id, 1)).run_id for _ in range(2)]
    await (await working(store, lost)).start()
    assert [found.run_id for found in await store.write(due, LEASE)] == [waiting]
    await expire_lease(store, lost)
    found = await store.write(due, LEASE)
    assert [each.run_id for each in found] == [lost, waiting]
    assert found[0].priority < found[1].priority


async def test_a_worker_can_let_go_of_what_it_cannot_go_on_with(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id, owner="w1")
    await worker.start()
    assert await store.write(due, LEASE) == []
    assert not await store.write(abandon, made.run_id, worker.claim.epoch, "w2")
    assert not await store.write(abandon, made.run_id, worker.claim.epoch + 1, "w1")
    assert await store.write(abandon, made.run_id, worker.claim.epoch, "w1")
    assert [found.run_id for found in await store.write(due, LEASE)] == [made.run_id]
    again = await working(store, made.run_id, owner="w2")
    assert again.claim.lost_attempt == worker.attempt_id
    with pytest.raises(LostLeaseError):
        await worker.settle(Succeed())


@pytest.mark.parametrize("found", ["taken over", "at boot", "cancelled", "cancelled and taken over"])
async def test_nobody_worked_on_a_lost_attempt_after_its_workers_last_sign(store: Store, found: str):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    await change(store, made.run_id, lease_until=-500)
    started_at = Sql("UPDATE attempt SET started_at = :at WHERE id = :id")
    begun = datetime.now(UTC) - timedelta(seconds=600)
    await store.write(lambda conn: conn.run(started_at, {"id": worker.attempt_id, "at": conn.bindable(begun)}))
    sign = 500.0 + (0 if found == "cancelled" else LEASE)
    if found == "at boot":
        await store.write(release_leases, LEASE)
    if found == "cancelled":
        await store.write(request_cancel, made.run_id, None)
    elif found == "cancelled and taken over":
        asked = Sql("UPDATE run SET cancel_requested = :yes WHERE id = :id")
        await store.write(lambda conn: conn.run(asked, {"id": made.run_id, "yes": True}))
        assert isinstance(await claimed(store, made.run_id), NotClaimed)
    else:
        assert isinstance(await claimed(store, made.run_id), Claim)
    (attempt,) = await attempts_of_run(store, made.run_id)
    assert attempt.state == (AttemptState.CANCELLED if "cancelled" in found else AttemptState.LOST)
    assert attempt.ended_at is not None
    assert abs((datetime.now(UTC) - attempt.ended_at).total_seconds() - sign) < 20


async def test_a_lost_attempt_does_not_end_before_it_began(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    await (await working(store, made.run_id)).start()
    await change(store, made.run_id, lease_until=-500)
    await claimed(store, made.run_id)
    (attempt,) = await attempts_of_run(store, made.run_id)
    assert attempt.ended_at == attempt.started_at


# ------------------------------------------------------------------------------------------------ counting


async def test_lost_and_released_attempts_are_no_retries(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    for number in range(1, 4):
        worker = await working(store, made.run_id, owner=f"w{number}")
        assert worker.claim.steps[0].stretch_attempts == 0
        assert worker.claim.steps[0].attempts == number - 1
        await worker.start()
        if number == 2:
            await store.write(release, worker.fence, (worker.step_id, worker.attempt_id), "r")
        else:
            await expire_lease(store, made.run_id)
    last = await working(store, made.run_id, owner="last")
    assert last.claim.steps[0].stretch_attempts == 0
    assert last.claim.lost_in_row == 1, "the release in between came to a result of sorts"


async def test_attempts_lost_in_a_row_are_counted_until_one_is_settled(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 2)
    for number in range(1, 4):
        worker = await working(store, made.run_id, owner=f"w{number}")
        assert worker.claim.lost_in_row == number - 1
        await worker.start()
        await expire_lease(store, made.run_id)
    worker = await working(store, made.run_id, owner="w4")
    await worker.start()
    await worker.go_on()
    await expire_lease(store, made.run_id)
    assert (await working(store, made.run_id, owner="w5")).claim.lost_in_row == 1


async def test_processes_lost_before_an_attempt_starts_are_counted_with_those_lost_with_one(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    for number in range(1, 4):
        worker = await working(store, made.run_id, owner=f"w{number}")
        assert worker.claim.lost_in_row == number - 1
        if number == 2:
            await worker.start()
        await expire_lease(store, made.run_id)
    worker = await working(store, made.run_id, owner="w4")
    assert worker.claim.lost_in_row == 3
    await store.write(release, worker.fence, None, "r")
    assert (await working(store, made.run_id, owner="w5")).claim.lost_in_row == 0


# ------------------------------------------------------------------------------------------------ deadlines


async def test_the_deadline_counts_from_the_first_claim_and_not_what_nobody_held(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, deadline_seconds=100.0)
    assert (await record(store, made.run_id)).deadline_at is None, "queueing does not count"
    first = await working(store, made.run_id)
    assert (first.claim.deadline_at - first.claim.now).total_seconds() == pytest.approx(100)
    await first.start()
    # The worker went 40 s after the claim; its lease ran out 30 s later, and ten minutes after that somebody came.
    await change(store, made.run_id, deadline_at=100 - 40 - 30 - 600, lease_until=-600)
    second = await working(store, made.run_id, owner="w2")
    assert (second.claim.deadline_at - second.claim.now).total_seconds() == pytest.approx(60, abs=1)


async def test_a_retry_wait_counts_and_being_late_after_it_does_not(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, deadline_seconds=100.0)
    worker = await working(store, made.run_id)
    await worker.start()
    await worker.settle(Wait(30, "r"), AttemptState.FAILED)
    # 90 s later: 30 s of wait, which count, and 60 s in which nobody took it.
    await change(store, made.run_id, deadline_at=10, not_before=-60, idle_since=-60)
    again = await working(store, made.run_id, owner="w2")
    assert (again.claim.deadline_at - again.claim.now).total_seconds() == pytest.approx(70, abs=1)


async def test_each_stretch_has_its_own_deadline(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, deadline_seconds=100.0)
    worker = await working(store, made.run_id)
    await worker.start()
    await change(store, made.run_id, deadline_at=-1)
    assert (await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)).state is RunState.FAILED
    await resumed(store, made.run_id)
    again = await working(store, made.run_id)
    assert (again.claim.deadline_at - again.claim.now).total_seconds() == pytest.approx(100)


async def test_at_boot_the_time_since_the_last_sign_of_life_does_not_count(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, deadline_seconds=100.0)
    await (await working(store, made.run_id)).start()
    # Renewed five seconds ago, with a lease of thirty.
    await change(store, made.run_id, lease_until=25, deadline_at=50)
    assert await store.write(release_leases, 30.0) == 1
    again = await working(store, made.run_id, owner="w2")
    assert (again.claim.deadline_at - again.claim.now).total_seconds() == pytest.approx(55, abs=1)


# ------------------------------------------------------------------------------------------------ starting


async def test_a_start_that_joins_a_run_is_found_again_by_its_key(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 1, flight="tea")
    same = {"flight": "tea", "idempotency_key": "k", "request_digest": "r"}
    assert (await submitted(store, ada.id, 1, **same)).coalesced
    await (await working(store, first.run_id)).to_the_end()
    again = await submitted(store, ada.id, 1, **same)
    assert (again.run_id, again.replayed) == (first.run_id, True)


async def test_every_key_that_joined_a_run_is_found_again_and_clashes_with_another_request(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 1, flight="tea", idempotency_key="k0", request_digest="r0")
    for number in (1, 2):
        joined = await submitted(
            store, ada.id, 1, flight="tea", idempotency_key=f"k{number}", request_digest=f"r{number}"
        )
        assert (joined.run_id, joined.coalesced) == (first.run_id, True)
    await (await working(store, first.run_id)).to_the_end()
    for number in (0, 1, 2):
        again = await submitted(
            store, ada.id, 1, flight="tea", idempotency_key=f"k{number}", request_digest=f"r{number}"
        )
        assert (again.run_id, again.replayed) == (first.run_id, True)
        earlier = await find_earlier_start(store, ada.id, f"k{number}")
        assert earlier is not None
        assert (earlier.run_id, earlier.request_digest) == (first.run_id, f"r{number}")
    with pytest.raises(IdempotencyClashError):
        await submitted(store, ada.id, 1, idempotency_key="k2", request_digest="another")


async def test_the_keys_of_a_run_that_is_gone_start_no_second_one_for_a_day(store: Store):
    ada, bob = await caller(store), await caller(store, "bob")
    first = await submitted(store, ada.id, 1, flight="tea", idempotency_key="k0", request_digest="r")
    await submitted(store, ada.id, 1, flight="tea", idempotency_key="k1", request_digest="r")
    await (await working(store, first.run_id)).to_the_end()
    await store.write(delete_run, first.run_id)
    for key in ("k0", "k1"):
        with pytest.raises(SpentKeyError, match=first.run_id):
            await submitted(store, ada.id, 1, idempotency_key=key, request_digest="r")
        earlier = await find_earlier_start(store, ada.id, key)
        assert earlier is not None
        assert (earlier.run_id, earlier.gone) == (first.run_id, True)
    assert (await submitted(store, bob.id, 1, idempotency_key="k0", request_digest="r")).started
    assert await store.write(sweep_spent_keys) == 0
    old = Sql("UPDATE spent_key SET created_at = :old")
    await store.write(lambda conn: conn.run(old, {"old": conn.now() - timedelta(hours=25)}))
    again = await submitted(store, ada.id, 1, idempotency_key="k0", request_digest="r")
    assert again.started
    await (await working(store, again.run_id)).to_the_end()
    await store.write(prune_runs, keep_days=0, keep_count=0)
    with pytest.raises(SpentKeyError, match=again.run_id):
        await submitted(store, ada.id, 1, idempotency_key="k0", request_digest="r")
    assert await store.write(sweep_spent_keys) == 1, "the other's day is not over"


async def test_a_run_that_was_started_and_joined_with_one_key_can_be_deleted(store: Store):
    """Two starts at the same moment: the second one finds no key yet, and then the run of the first."""
    ada = await caller(store)
    first = await submitted(store, ada.id, 1, flight="tea", idempotency_key="k0", request_digest="r")
    joined = Sql(
        """INSERT INTO joined_key (caller_id, idempotency_key, run_id, request_digest, created_at)
        SELECT caller_id, idempotency_key, id, request_digest, created_at FROM run WHERE id = :id"""
    )
    await store.write(lambda conn: conn.run(joined, {"id": first.run_id}))
    await (await working(store, first.run_id)).to_the_end()
    await store.write(delete_run, first.run_id)
    with pytest.raises(SpentKeyError, match=first.run_id):
        await submitted(store, ada.id, 1, idempotency_key="k0", request_digest="r")


async def test_keys_are_swept_no_more_at_once_than_asked(store: Store):
    ada = await caller(store)
    first = await submitted(store, ada.id, 1, flight="tea", idempotency_key="k0", request_digest="r")
    await submitted(store, ada.id, 1, flight="tea", idempotency_key="k1", request_digest="r")
    await (await working(store, first.run_id)).to_the_end()
    await store.write(delete_run, first.run_id)
    old = Sql("UPDATE spent_key SET created_at = :old")
    await store.write(lambda conn: conn.run(old, {"old": conn.now() - timedelta(hours=25)}))
    assert [await store.write(sweep_spent_keys, limit=1) for _ in range(3)] == [1, 1, 0]


async def test_starts_and_ends_of_one_flight_race_to_runs_that_all_end(store: Store):
    """Each start gets a run that was not final when it joined it; never two under way at once."""
    ada = await caller(store)

    async def start_and_end(number: int) -> str:
        made = await submitted(store, ada.id, 1, flight="tea")
        taken = await claimed(store, made.run_id, owner=f"w{number}")
        if isinstance(taken, Claim):
            await Worker(store, taken).to_the_end()
        return made.run_id

    run_ids = await asyncio.gather(*(start_and_end(number) for number in range(24)))
    for run_id in set(run_ids):
        assert (await record(store, run_id)).state is RunState.SUCCEEDED


# ------------------------------------------------------------------------------------------------ definitions, sessions


async def test_a_step_that_was_retired_may_come_back_in_a_later_definition(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 3)

    async def fail_first() -> None:
        worker = await working(store, made.run_id)
        await worker.start()
        await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED)

    async def resume_with(keys: list[str]) -> list[str]:
        found = await store.write(snapshot, made.run_id)
        assert found is not None
        rows = {step.key: step for step in found.steps}
        new = {key: NewStep(key, number, "demo.echo", "1.0.0") for number, key in enumerate(keys, 1)}
        await resumed(
            store,
            made.run_id,
            steps=tuple(ResumeStep(rows[key].id, rows[key].state, rerun=True) for key in keys if key in rows),
            added_steps=tuple(new[key] for key in keys if key not in rows),
            retired_steps=tuple(row.id for key, row in rows.items() if key not in new),
            moved_steps={rows[key].id: new[key] for key in keys if key in rows},
        )
        return [step.key for step in (await steps_of_runs(store, [made.run_id]))[made.run_id]]

    await fail_first()
    assert await resume_with(["step1", "step3"]) == ["step1", "step3"]
    await fail_first()
    assert await resume_with(["step3", "step2", "step1"]) == ["step3", "step2", "step1"]
    await fail_first()
    assert await resume_with(["step1"]) == ["step1"]
    await fail_first()
    assert await resume_with(["step2", "step1"]) == ["step2", "step1"]
    tried = [attempt.step_id for attempt in await attempts_of_run(store, made.run_id)]
    steps = await find_steps(store, tried)
    assert [steps[step_id].key for step_id in tried] == ["step1", "step1", "step3", "step1"], "retired ones keep theirs"
    await (await working(store, made.run_id)).to_the_end()


async def test_a_session_found_gone_ends_with_the_attempt_that_found_it(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    session = new_id("sess")
    await store.write(
        start_session, session_id=session, run_id=made.run_id, step_id=worker.step_id, machine=store.machine
    )
    await expire_lease(store, made.run_id)
    other = await working(store, made.run_id, owner="w2")

    async def is_over() -> bool:
        return (await find_sessions(store, [session]))[session].ended_at is not None

    with pytest.raises(LostLeaseError):
        await worker.settle(Fail(FAILURE, "x"), AttemptState.FAILED, session_ended=session)
    assert not await is_over(), "a stale worker ends nothing"
    await other.start()
    await other.settle(Fail(FAILURE, "x"), AttemptState.FAILED, session_ended=session)
    assert await is_over()


# ------------------------------------------------------------------------------------------------ deleting, checks


async def with_artifact(store: Store, worker: Worker) -> str:
    artifact = NewArtifact(new_id("art"), "a.txt", "text/plain", 1, "0" * 64, "stored")
    await worker.start()
    await store.write(settle, worker.fence, worker.ended(artifacts=(artifact,)), Succeed(), artifact_days=7)
    return worker.attempt_id


async def test_deleting_a_run_keeps_what_another_reuses_until_that_goes_too(store: Store):
    ada = await caller(store)
    first = (await submitted(store, ada.id, 1)).run_id
    attempt = await with_artifact(store, await working(store, first))
    steps = (NewStep("step1", 1, "demo.echo", "1.0.0", attempt, first), NewStep("step2", 2, "demo.echo", "1.0.0"))
    second = (await store.write(submit, replace(new_run(ada.id), steps=steps), queue_limit=10)).run_id
    worker = await working(store, second)
    await worker.start(1)
    await worker.settle(Succeed())

    async def kept() -> int:
        return len((await artifacts_of_attempts(store, [attempt]))[attempt])

    await store.write(delete_run, first)
    assert await kept() == 1
    await store.write(delete_run, second)
    assert await kept() == 0


@pytest.mark.parametrize(
    ("state", "ended"), [("succeeded", False), ("failed", False), ("running", True), ("queued", True)]
)
async def test_the_database_itself_ties_the_end_to_final_states(store: Store, state: str, ended: bool):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    change_state = Sql("UPDATE run SET state = :state, ended_at = :ended_at WHERE id = :id")

    def unit(conn: Connection) -> None:
        conn.run(change_state, {"id": made.run_id, "state": state, "ended_at": conn.now() if ended else None})

    with pytest.raises(StoreError):
        await store.write(unit)


async def test_the_database_itself_keeps_attempts_and_flights_apart(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1, flight="tea")
    other = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    twin = {
        "id": new_id("att"),
        "run_id": made.run_id,
        "step_id": worker.step_id,
        "number": 1,
        "epoch": 1,
        "state": "running",
        "idempotency_key": "k",
        "notes": "[]",
        "started_at": datetime.now(UTC),
    }
    with pytest.raises(StoreError):
        await store.write(insert, "attempt", twin)
    steal = Sql("UPDATE run SET flight = 'tea' WHERE id = :id")
    with pytest.raises(StoreError):
        await store.write(lambda conn: conn.run(steal, {"id": other.run_id}))
    (attempt,) = await attempts_of_run(store, made.run_id)
    assert attempt.state is AttemptState.RUNNING


async def test_a_claim_tells_the_clock_that_counts(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    taken = await store.write(claim, made.run_id, owner="w", lease_seconds=30.0)
    assert isinstance(taken, Claim)
    assert abs((datetime.now(UTC) - taken.now).total_seconds()) < 5
    assert taken.now.tzinfo is not None


async def test_many_rows_at_once_all_arrive_in_order(store: Store):
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id)
    await worker.start()
    lines = [(datetime.now(UTC), "info", f"100 % of line {number} (%s)") for number in range(1201)]
    assert await store.write(append_log_lines, worker.attempt_id, lines) == 1201
    kept = await list_log(store, worker.attempt_id, PageWindow(limit=2000))
    assert [line.text for line in kept] == [text for _, _, text in lines]


async def working_again(store: Store, run_id: str) -> Worker:
    """The next worker after a lost one."""
    await expire_lease(store, run_id)
    return await working(store, run_id, owner="next")


async def test_a_lost_attempt_that_no_worker_has_decided_about_is_found_by_the_next_one(store: Store):
    """Guarantee E4: else an at-most-once step would be repeated."""
    ada = await caller(store)
    made = await submitted(store, ada.id, 1)
    worker = await working(store, made.run_id, owner="w1")
    await worker.start()
    for owner in ("w2", "w3"):
        await expire_lease(store, made.run_id)
        assert (await working(store, made.run_id, owner=owner)).claim.lost_attempt == worker.attempt_id
    last = await working_again(store, made.run_id)
    await last.start()
    await store.write(release, last.fence, (last.step_id, last.attempt_id), "r")
    await working(store, made.run_id, owner="w5")
    assert (await working_again(store, made.run_id)).claim.lost_attempt is None, "that one was given back"
