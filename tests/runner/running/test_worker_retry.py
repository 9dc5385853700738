"""What the engine tries again by itself, what it waits for, and what a restart in between changes: nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.commands import request_cancel
from store.states import AttemptState, RunState, StepState
from tests.support.engine import AT_ONCE, QUICK, Laboratory, laboratory, step

if TYPE_CHECKING:
    from pathlib import Path

    from store.database.dialects import Connection
    from tests.support.packs import Workbench


HOUR = {"initial_seconds": 30, "max_seconds": 30, "jitter": 0}


async def due_now(lab: Laboratory, run_id: str) -> None:
    """As if the wait were over."""
    earlier = Sql("UPDATE run SET not_before = :at WHERE id = :id")

    def unit(conn: Connection) -> None:
        conn.run(earlier, {"id": run_id, "at": conn.now() - timedelta(seconds=1)})

    await lab.store.write(unit)


@pytest.mark.parametrize("code", ["timeout", "rate_limited", "upstream_unavailable", "session_unavailable"])
async def test_transient_failures_are_tried_again(lab: Laboratory, code: str):
    run = await lab.run([step("a", "test.flaky", times=2, code=code, text="x", retry=AT_ONCE)])
    assert run.state is RunState.SUCCEEDED
    assert [attempt.state for attempt in run.attempts["a"]] == [
        AttemptState.FAILED,
        AttemptState.FAILED,
        AttemptState.SUCCEEDED,
    ]
    assert [attempt.number for attempt in run.attempts["a"]] == [1, 2, 3]
    assert all(attempt.failure for attempt in run.attempts["a"][:2]), "each keeps its own"
    assert run.told().count("step a waiting") == run.told().count("run waiting") == 2
    assert run.ends() == ["succeeded"]


@pytest.mark.parametrize("code", ["invalid_input", "handler_failed", "quota_exceeded", "policy_denied", "internal"])
async def test_other_failures_are_not(lab: Laboratory, bench: Workbench, code: str):
    run = await lab.run([step("a", "test.flaky", times=1, code=code, retry=AT_ONCE)])
    assert run.state is RunState.FAILED
    assert bench.calls("test.flaky") == 1


async def test_the_policy_bounds_the_attempts(lab: Laboratory, bench: Workbench):
    run = await lab.run([step("a", "test.flaky", times=9, retry={**AT_ONCE, "max_attempts": 2})])
    assert run.state is RunState.FAILED
    assert bench.calls("test.flaky") == 2


async def test_what_has_outside_effects_is_repeated_only_with_an_idempotency_key(lab: Laboratory, bench: Workbench):
    sent = await lab.run([step("a", "test.external", times=1, retry=AT_ONCE)])
    assert sent.state is RunState.FAILED
    assert sent.failure["safe_to_repeat"] is False
    keyed = await lab.run([step("a", "test.keyed", times=1, retry=AT_ONCE)])
    assert keyed.state is RunState.SUCCEEDED
    assert len({call.idempotency_key for call in bench.calls_of("test.keyed")}) == 1


async def test_an_at_most_once_step_is_never_tried_again_by_itself(lab: Laboratory, bench: Workbench):
    run = await lab.run([step("a", "test.once", timeout_seconds=0.05, retry=AT_ONCE)])
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "timeout")
    assert bench.calls("test.once") == 1


async def test_the_wait_is_stored_and_survives_a_restart(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.flaky", times=1, text="x", retry=HOUR)])
    waiting = await lab.in_state(run_id, RunState.WAITING)
    assert waiting.record.not_before is not None
    assert waiting.record.owner is None
    assert waiting.step("a").state is StepState.WAITING
    await lab.engine.stop(1)
    await lab.restart()
    assert not lab.engine.worker._active
    assert (await lab.fared(run_id)).state is RunState.WAITING
    assert bench.calls("test.flaky") == 1
    await lab.engine.stop(1)
    await due_now(lab, run_id)
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert bench.calls("test.flaky") == 2
    assert run.told().count("run waiting") == 1


async def test_a_run_whose_time_has_come_is_found_although_its_timer_has_not(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.flaky", times=1, text="x", retry=HOUR)])
    await lab.in_state(run_id, RunState.WAITING)
    await due_now(lab, run_id)
    await lab.engine.rescue.sweep()
    assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
    assert bench.calls("test.flaky") == 2


async def test_a_retry_after_is_waited_for(lab: Laboratory):
    run_id = await lab.start([step("a", "test.fail", code="rate_limited", retry_after_seconds=40, retry=AT_ONCE)])
    waiting = await lab.in_state(run_id, RunState.WAITING)
    assert waiting.record.not_before is not None
    failed_at = waiting.attempts["a"][0].ended_at
    assert failed_at is not None
    assert (waiting.record.not_before - failed_at).total_seconds() == pytest.approx(40, abs=1)


async def test_no_wait_reaches_beyond_the_deadline(lab: Laboratory):
    run = await lab.run([step("a", "test.flaky", times=1, retry=HOUR)], deadline_seconds=10.0)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "upstream_unavailable")


async def test_a_waiting_run_is_cancelled_at_once(lab: Laboratory):
    run_id = await lab.start([step("a", "test.flaky", times=1, retry=HOUR)])
    await lab.in_state(run_id, RunState.WAITING)
    assert await lab.cancel(run_id, "enough") is RunState.CANCELLED
    run = await lab.ended(run_id)
    assert run.step("a").state is StepState.CANCELLED
    assert run.ends() == ["cancelled"]


async def test_a_resume_starts_a_new_count(lab: Laboratory, bench: Workbench):
    steps = [step("a", "test.echo", text="x"), step("b", "test.flaky", times=4, retry=AT_ONCE)]
    run_id = await lab.start(steps)
    assert (await lab.ended(run_id)).state is RunState.FAILED
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert [attempt.number for attempt in run.attempts["b"]] == [1, 2, 3, 4, 5]
    assert bench.calls("test.echo") == 1, "what had succeeded is not repeated"
    assert run.ends() == ["failed", "succeeded"]


async def test_a_resume_may_replace_the_failed_steps_input(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.echo", text="x"), step("b", "test.fail"), step("c", "test.echo")])
    first = await lab.ended(run_id)
    await lab.resume(run_id, {"code": "not_found", "message": "another"})
    second = await lab.ended(run_id)
    assert second.failure["code"] == "not_found"
    assert second.inputs["b"] == {"code": "not_found", "message": "another"}
    keys = [call.idempotency_key for call in bench.calls_of("test.fail")]
    assert keys[0] != keys[1], "another input is another piece of work"
    assert first.outputs["a"] == second.outputs["a"]


async def test_a_run_cancelled_after_its_last_result_is_resumed_to_success(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow", text="x")])
    await bench.started.wait()

    def cancel_and_let_go(conn: Connection) -> None:
        request_cancel(conn, run_id, None)
        conn.woken.discard((Topic.RUN_CANCELLING, run_id))  # type: ignore[attr-defined]

    await lab.store.write(cancel_and_let_go)
    bench.release.set()
    cancelled = await lab.ended(run_id)
    assert (cancelled.state, cancelled.step("a").state) == (RunState.CANCELLED, StepState.SUCCEEDED)
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.outputs["a"]["text"] == "x"
    assert bench.calls("test.slow") == 1
    assert run.ends() == ["cancelled", "succeeded"]


async def test_a_replaced_input_stays_for_later_attempts(lab: Laboratory):
    run_id = await lab.start([step("a", "test.fail")])
    await lab.ended(run_id)
    await lab.resume(run_id, {"code": "not_found"})
    await lab.ended(run_id)
    await lab.resume(run_id)
    assert (await lab.ended(run_id)).failure["code"] == "not_found"


async def test_deadlines_count_each_stretch_anew_and_not_what_nobody_held(tmp_path: Path, bench: Workbench):
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=3600)) as lab:
        run_id = await lab.start([step("a", "test.slow"), step("b", "test.fail")], deadline_seconds=50.0)
        await bench.started.wait()
        first = (await lab.fared(run_id)).record.deadline_at
        assert first is not None
        await lab.crash()
        back = Sql("UPDATE run SET lease_until = :until, deadline_at = :deadline WHERE id = :id")

        def an_hour_ago(conn: Connection) -> None:
            # The last sign of life came an hour ago, ten seconds before the deadline.
            conn.run(
                back,
                {
                    "id": run_id,
                    "until": conn.now() - timedelta(seconds=1),
                    "deadline": conn.now() - timedelta(seconds=3591),
                },
            )

        await lab.store.write(an_hour_ago)
        bench.release.set()
        await lab.restart()
        run = await lab.ended(run_id)
        assert run.step("a").state is StepState.SUCCEEDED, "the hour did not count"
        assert run.failure["code"] == "invalid_input"
        await lab.resume(run_id)
        again = await lab.ended(run_id)
        assert again.record.deadline_at is not None
        assert run.record.deadline_at is not None
        assert again.record.deadline_at > run.record.deadline_at, "a resume has its own"


async def test_lost_attempts_do_not_use_up_retries(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow"), step("b", "test.echo")])
    for _ in range(3):
        await bench.started.wait()
        bench.started.clear()
        await lab.crash()
        await lab.restart()
    await bench.started.wait()
    assert (await lab.fared(run_id)).step("a").stretch_attempts == 1
    bench.release.set()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    lost = [attempt.state for attempt in run.attempts["a"]]
    assert lost == [AttemptState.LOST] * 3 + [AttemptState.SUCCEEDED]


def test_the_default_policy():
    from runner.definitions.models import RetryPolicy

    policy = RetryPolicy()
    assert (policy.max_attempts, policy.initial_seconds, policy.factor, policy.max_seconds, policy.jitter) == (
        3,
        1,
        2,
        60,
        0.2,
    )
