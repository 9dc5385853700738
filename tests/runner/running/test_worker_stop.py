"""Stopping: by cancel, by time-out, at the deadline, and with the server."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psutil
import pytest

from store.database.dialects import Sql
from store.database.wakes import Topic
from store.runs.commands import request_cancel
from store.runs.ending import DEADLINE_HINT
from store.runs.unit_types import WrongStateError
from store.runs.workers import drain_worker
from store.states import AttemptState, RunState, StepState
from tests.support.engine import AT_ONCE, QUICK, Laboratory, laboratory, named, step, until
from tests.support.packs import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from packline import PackContext
    from store.database.dialects import Connection
    from store.runs.unit_types import Settled
    from tests.support.engine_packs import Anything, Signals


def queue_every_start(lab: Laboratory) -> None:
    """Has every run claimed from the queue, by a unit of its own, as where no lane was free when it was submitted."""
    lab.engine._dispatcher.has_lane = lambda: False  # type: ignore[method-assign]


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# ------------------------------------------------------------------------------------------------ cancel


async def test_a_running_handler_is_cancelled(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow"), step("b", "test.echo")])
    await bench.started.wait()
    assert await lab.cancel(run_id, "no longer needed") is RunState.CANCELLING
    run = await lab.ended(run_id)
    assert run.state is RunState.CANCELLED
    assert bench.cancelled == 1
    assert [found.state for found in run.steps] == [StepState.CANCELLED, StepState.PENDING]
    assert run.attempts["a"][0].state is AttemptState.CANCELLED
    assert run.ends() == ["cancelled"]
    assert run.record.cancel_reason == "no longer needed"
    with pytest.raises(WrongStateError):
        await lab.cancel(run_id)
    assert bench.calls("test.echo") == 0


async def test_a_handler_that_ignores_its_cancellation_is_abandoned(lab: Laboratory, signals: Signals):
    run_id = await lab.start([step("a", "test.stubborn"), step("b", "test.echo")])
    await signals.began.wait()
    await lab.cancel(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.CANCELLED
    assert signals.cancelled == 1
    before = run.record.next_seq
    signals.go.set()
    await asyncio.sleep(0)
    assert (await lab.fared(run_id)).record.next_seq == before, "what it still says is dropped"


async def test_a_cancel_whose_wake_up_was_lost_is_found_once_wake_ups_come_again(tmp_path: Path, bench: Workbench):
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=3600)) as lab:
        run_id = await lab.start([step("a", "test.slow")])
        await bench.started.wait()

        def cancel_unheard(conn: Connection) -> None:
            request_cancel(conn, run_id, None)
            conn.woken.discard((Topic.RUN_CANCELLING, run_id))  # type: ignore[attr-defined]

        await lab.store.write(cancel_unheard)
        await lab.store.write(lambda conn: conn.wake(Topic.RUN_CANCELLING))
        assert (await lab.ended(run_id)).state is RunState.CANCELLED


async def test_a_cancel_in_the_first_turn_of_a_handler_is_heard(lab: Laboratory, signals: Signals):
    """It comes before anybody waits for the handler, which then waits for long."""

    async def body(ctx: PackContext, given: Anything) -> None:
        lab.engine.worker._cancelling(ctx.run_id)
        await asyncio.Event().wait()

    signals.body = body
    run_id = await lab.start([step("a", "test.scripted")])
    run = await lab.ended(run_id)
    assert run.attempts["a"][0].state is AttemptState.CANCELLED


async def test_a_handler_that_ends_in_the_turn_in_which_it_is_stopped_keeps_its_result(
    lab: Laboratory, signals: Signals
):
    async def body(ctx: PackContext, given: Anything) -> str:
        lab.engine.worker._cancelling(ctx.run_id)
        return "kept"

    signals.body = body
    run = await lab.ended(await lab.start([step("a", "test.scripted")]))
    assert run.attempts["a"][0].state is AttemptState.SUCCEEDED


async def test_a_cancelled_process_is_gone_with_its_children(lab: Laboratory, signals: Signals, tmp_path: Path):
    run_id = await lab.start([step("a", "test.forking", text=str(tmp_path))])
    pids = tmp_path / "pids"
    await until(pids.exists)
    family = [int(pid) for pid in pids.read_text().split()]
    assert all(psutil.pid_exists(pid) for pid in family)
    await lab.cancel(run_id)
    assert (await lab.ended(run_id)).state is RunState.CANCELLED
    await until(lambda: not any(is_alive(pid) for pid in family))


async def test_a_cancel_between_two_attempts_is_heard_at_once(tmp_path: Path, bench: Workbench):
    """The cancel commits right behind the settle that began the next step, before the worker knows of it."""
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=3600)) as lab:
        run_id = await lab.start([step("a", "test.echo"), step("b", "test.slow")])
        write = lab.store.write_few

        async def cancelled_behind(unit: object, *args: object, **kwargs: object) -> object:
            if getattr(unit, "__name__", "") != "settle":
                return await write(unit, *args, **kwargs)  # type: ignore[arg-type]

            def both(conn: Connection) -> Settled:
                settled: Settled = unit(conn, *args, **kwargs)  # type: ignore[operator]
                if settled.started:
                    request_cancel(conn, run_id, None)
                return settled

            return await write(both)

        lab.store.write_few = cancelled_behind  # type: ignore[method-assign, assignment]
        run = await lab.ended(run_id)
        assert run.state is RunState.CANCELLED
        assert run.step("b").state is StepState.CANCELLED
        assert run.ends() == ["cancelled"]


@pytest.mark.parametrize("claiming", ["_submit", "take"])
async def test_a_cancel_right_behind_the_claim_is_heard_at_once(tmp_path: Path, bench: Workbench, claiming: str):
    """The cancel commits with the claim that began the first step, before the worker knows of it."""
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=3600)) as lab:
        write = lab.store.write_few

        async def cancelled_behind(unit: object, *args: object, **kwargs: object) -> object:
            if named(unit) != claiming:
                return await write(unit, *args, **kwargs)  # type: ignore[arg-type]

            def both(conn: Connection) -> object:
                answer = unit(conn, *args, **kwargs)  # type: ignore[operator]
                taken = answer[1] if claiming == "_submit" else answer
                request_cancel(conn, taken.claim.run_id, None)
                return answer

            return await write(both)

        if claiming == "take":
            queue_every_start(lab)
        lab.store.write_few = cancelled_behind  # type: ignore[method-assign, assignment]
        run = await lab.run([step("a", "test.slow")])
        assert run.state is RunState.CANCELLED
        assert run.step("a").state is StepState.CANCELLED
        assert run.ends() == ["cancelled"]
        assert bench.cancelled == bench.calls("test.slow") <= 1, "a body that had begun was stopped"


async def test_a_result_that_came_before_the_cancel_is_kept(lab: Laboratory, signals: Signals):
    async def body(ctx: PackContext, given: Anything) -> str:
        signals.began.set()
        try:
            await signals.go.wait()
        except asyncio.CancelledError:
            return "just in time"
        return "never"

    signals.body = body
    run_id = await lab.start([step("a", "test.scripted"), step("b", "test.echo")])
    await signals.began.wait()
    await lab.cancel(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.CANCELLED
    assert run.step("a").state is StepState.SUCCEEDED
    assert run.outputs["a"]["value"] == "just in time"


async def test_cancelled_runs_can_be_resumed(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.echo"), step("b", "test.slow", text="x")])
    await bench.started.wait()
    await lab.cancel(run_id)
    await lab.ended(run_id)
    bench.release.set()
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.ends() == ["cancelled", "succeeded"]
    assert bench.calls("test.echo") == 1


# ------------------------------------------------------------------------------------------------ time


async def test_a_step_has_a_time_out(lab: Laboratory, bench: Workbench):
    run = await lab.run([step("a", "test.slow", timeout_seconds=0.05, retry={"max_attempts": 1})])
    assert run.failure["code"] == "timeout"
    assert "0.05 seconds" in run.failure["message"]
    assert bench.cancelled == 1


async def test_a_time_out_is_tried_again(lab: Laboratory, signals: Signals):
    async def body(ctx: PackContext, given: Anything) -> str:
        if ctx.attempt_number == 1:
            await asyncio.Event().wait()
        return "in time"

    signals.body = body
    run = await lab.run([step("a", "test.scripted", timeout_seconds=0.3, retry={**AT_ONCE, "max_attempts": 5})])
    assert run.state is RunState.SUCCEEDED
    assert [attempt.state for attempt in run.attempts["a"]][:1] == [AttemptState.FAILED]
    assert json.loads(run.attempts["a"][0].failure or "{}")["code"] == "timeout"


async def test_a_time_out_is_written_although_the_handler_hangs(lab: Laboratory, signals: Signals):
    run = await lab.run([step("a", "test.stubborn", timeout_seconds=0.05, retry={"max_attempts": 1})])
    assert run.failure["code"] == "timeout"
    signals.go.set()


async def test_a_run_ends_at_its_deadline_and_is_not_tried_again(lab: Laboratory, bench: Workbench):
    run = await lab.run([step("a", "test.slow", retry=AT_ONCE)], deadline_seconds=0.2)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "timeout")
    assert run.failure["message"] == "The run passed its deadline while this step ran."
    assert run.failure["hint"] == DEADLINE_HINT, "a longer time-out of the step would not help"
    assert bench.calls("test.slow") == 1
    assert run.ends() == ["failed"]


async def test_a_handler_that_holds_the_loop_past_its_limit_times_out(lab: Laboratory, signals: Signals):
    signals.body = lambda _ctx, _given: time.sleep(0.1)  # what is tried: it holds the loop, so that no timer ends it
    run = await lab.run([step("a", "test.scripted", timeout_seconds=0.05, retry={"max_attempts": 1})])
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "timeout")
    assert "0.05 seconds" in run.failure["message"]


async def test_a_last_step_that_holds_the_loop_past_the_deadline_ends_the_run_as_timeout(
    lab: Laboratory, signals: Signals
):
    signals.body = lambda _ctx, _given: time.sleep(1.1)  # what is tried: it holds the loop, so that no timer ends it
    run_id = await lab.start([step("a", "test.scripted", retry=AT_ONCE)], deadline_seconds=1.0)
    run = await lab.ended(run_id)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "timeout")
    assert "deadline" in run.failure["message"]
    assert run.ends() == ["failed"]
    signals.body = lambda _ctx, _given: "in time"
    # Another second would be the machine's to keep, and what is asked is whether a resume has a deadline of its own.
    await lab.store.write_few(lambda conn: conn.run(Sql("UPDATE run SET deadline_seconds = 60")))
    await lab.resume(run_id)
    assert (await lab.ended(run_id)).outputs["a"]["value"] == "in time"


async def test_queueing_does_not_count_for_the_deadline(tmp_path: Path, bench: Workbench):
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, concurrent_runs=1)) as lab:
        first = await lab.start([step("a", "test.slow")])
        await bench.started.wait()
        second = await lab.start([step("a", "test.echo")], deadline_seconds=60.0)
        queued = (await lab.fared(second)).record
        assert (queued.state, queued.deadline_at) == (RunState.QUEUED, None)
        await until(lambda: datetime.now(UTC) > queued.created_at + timedelta(seconds=0.05))
        released_at = datetime.now(UTC)
        bench.release.set()
        assert (await lab.ended(first)).state is RunState.SUCCEEDED
        run = await lab.ended(second)
        assert run.state is RunState.SUCCEEDED
        assert run.record.deadline_at is not None
        assert run.record.deadline_at >= released_at + timedelta(seconds=60), "counted from when it began"


# ------------------------------------------------------------------------------------------------ server stop


async def test_short_steps_finish_and_the_run_goes_on_elsewhere(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow", text="x"), step("b", "test.echo")])
    await bench.started.wait()
    stopping = asyncio.create_task(lab.engine.stop(10))
    await asyncio.sleep(0)
    bench.release.set()
    await stopping
    released = await lab.fared(run_id)
    assert released.state is RunState.QUEUED
    assert [found.state for found in released.steps] == [StepState.SUCCEEDED, StepState.PENDING]
    assert (released.record.owner, released.record.lease_until) == (None, None)
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert bench.calls("test.slow") == 1, "what finished is not run again"
    assert "queued" in [event.after for event in run.events if event.before == "running"]


async def test_long_steps_are_released_and_run_again(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow", text="x"), step("b", "test.echo")])
    await bench.started.wait()
    await lab.engine.stop(0.01)
    released = await lab.fared(run_id)
    assert released.state is RunState.QUEUED
    assert released.step("a").state is StepState.PENDING
    assert [attempt.state for attempt in released.attempts["a"]] == [AttemptState.LOST]
    assert released.step("a").stretch_attempts == 0
    bench.release.set()
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert run.record.progress == 1.0


async def test_an_at_most_once_step_that_had_to_be_stopped_has_an_unknown_outcome(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.echo"), step("b", "test.once")])
    await bench.started.wait()
    await lab.engine.stop(0.01)
    run = await lab.fared(run_id)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "outcome_unknown")
    assert run.failure["safe_to_repeat"] is False
    await lab.restart()
    await lab.engine.rescue.sweep()
    assert bench.calls("test.once") == 1


async def test_a_stop_during_a_cancel_still_ends_cancelled(lab: Laboratory, signals: Signals):
    run_id = await lab.start([step("a", "test.stubborn")])
    await signals.began.wait()
    await lab.cancel(run_id)
    await lab.engine.stop(0)
    assert (await lab.fared(run_id)).ends() == ["cancelled"]
    signals.go.set()


@pytest.mark.parametrize("pack", ["test.echo", "test.once"])
@pytest.mark.parametrize("claiming", ["_submit", "take"])
async def test_a_stop_while_a_run_is_being_claimed_gives_it_back(
    lab: Laboratory, bench: Workbench, claiming: str, pack: str
):
    write = lab.store.write_few
    stopping: list[asyncio.Task[None]] = []

    async def stop_meanwhile(unit: object, *args: object, **kwargs: object) -> object:
        result = await write(unit, *args, **kwargs)  # type: ignore[arg-type]
        if named(unit) == claiming:
            stopping.append(asyncio.create_task(lab.engine.stop(5)))
            await asyncio.sleep(0)
        return result

    if claiming == "take":
        queue_every_start(lab)
    lab.store.write_few = stop_meanwhile  # type: ignore[method-assign, assignment]
    run_id = await lab.start([step("a", pack)])
    await lab.reached(run_id, lambda found: "run running" in found.told())
    await asyncio.gather(*stopping)
    run = await lab.fared(run_id)
    assert (run.state, run.record.lease_until) == (RunState.QUEUED, None)
    assert bench.log == []


async def test_stopping_twice_or_before_the_start_is_harmless(tmp_path: Path):
    async with laboratory(tmp_path, start=False) as lab:
        await lab.engine.stop(1)
        await lab.engine.stop(1)


async def test_a_worker_that_is_no_longer_drained_takes_what_waits_at_once(tmp_path: Path):
    async with laboratory(tmp_path, Workbench().packs, limits=replace(QUICK, rescue_seconds=3600.0)) as lab:
        worker, dispatcher = lab.engine.worker, lab.engine._dispatcher
        await lab.store.write(drain_worker, worker.name, draining=True)
        await until(lambda: worker.draining and not dispatcher.has_lane())
        run_id = await lab.start([step("a", "test.echo", text="x")])
        await lab.store.write(drain_worker, worker.name, draining=False)
        assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
