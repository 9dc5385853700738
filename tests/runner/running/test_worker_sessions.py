"""Sessions: threaded into later steps, made anew when they are gone, ended with their run."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as some

from packline import PackError
from store.database.dialects import Sql
from store.runs.sessions import end_sessions_of_run, find_sessions
from store.states import AttemptState, RunState, StepState
from tests.support.engine import AT_ONCE, QUICK, Fared, Laboratory, laboratory, step, until
from tests.support.engine_packs import Signals, engine_packs
from tests.support.packs import Workbench

if TYPE_CHECKING:
    from pathlib import Path

    from packline import PackContext
    from tests.support.engine_packs import Anything


def session_of(run: Fared, key: str) -> str:
    found = run.step(key).session_id
    assert found is not None
    return found


async def lose(lab: Laboratory, session_id: str) -> None:
    """The machine lost the workspace."""
    await asyncio.to_thread(shutil.rmtree, lab.resources.sessions_folder / session_id)


async def test_a_session_is_threaded_into_later_steps_that_use_one(lab: Laboratory, bench: Workbench):
    run = await lab.run(
        [
            step("make", "test.session", text="a note"),
            step("between", "test.echo", text="x"),
            step("use", "test.session_use"),
        ]
    )
    assert run.outputs["use"]["text"] == "a note"
    session = session_of(run, "make")
    assert run.inputs["use"] == {"_session_id": session}
    assert "_session_id" not in run.inputs["between"], "only packs that use sessions are given one"
    assert run.attempts["use"][0].session_used == session
    assert bench.calls_of("test.echo")[0].session_id is None


async def test_a_succeeded_run_ends_its_sessions_at_once(lab: Laboratory):
    run = await lab.run([step("make", "test.session"), step("use", "test.session_use")])
    session = session_of(run, "make")

    async def is_over() -> bool:
        return (await find_sessions(lab.store, [session]))[session].ended_at is not None

    await until(is_over)
    await lab.engine.housekeeping.sweep_sessions()
    assert not (lab.resources.sessions_folder / session).exists()


async def test_an_authors_own_choice_of_session_wins(lab: Laboratory, bench: Workbench):
    steps = [
        step("one", "test.session", text="first"),
        step("two", "test.session", text="second"),
        step("last", "test.session_use"),
        step("named", "test.session_use", _session_id="${{ steps.one.output._session_id }}"),
        step("stray", "test.session_use", _session_id="sess_of_somebody_else", retry={"max_attempts": 1}),
    ]
    run = await lab.run(steps)
    assert run.outputs["last"]["text"] == "second"
    assert run.outputs["named"]["text"] == "first"
    assert run.failure["step_key"] == "stray", "a session of another run is never handed out"
    assert run.failure["code"] == "session_unavailable"
    assert bench.calls("test.session_use") == 2, "nor is the pack called without the session that its author names"


async def test_resume_makes_a_missing_session_anew(lab: Laboratory, bench: Workbench):
    steps = [
        step("make", "test.session", text="note"),
        step("read", "test.session_use"),
        step("apart", "test.echo", text="y"),
        step("gate", "test.switch"),
        step("again", "test.session_use"),
    ]
    run_id = await lab.start(steps)
    first = await lab.ended(run_id)
    assert first.failure["step_key"] == "gate"
    await lose(lab, session_of(first, "make"))
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert session_of(run, "make") != session_of(first, "make")
    assert [len(run.attempts[key]) for key in ("make", "read", "apart", "gate", "again")] == [2, 2, 1, 2, 1]
    assert run.attempts["again"][0].session_used == session_of(run, "make")
    keys = [call.idempotency_key for call in bench.calls_of("test.session_use")]
    assert keys[0] == keys[1], "a new session is not another input"


async def test_a_live_session_is_kept_over_a_resume(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [step("make", "test.session"), step("gate", "test.switch"), step("use", "test.session_use")]
    )
    first = await lab.ended(run_id)
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert session_of(run, "make") == session_of(first, "make")
    assert len(run.attempts["make"]) == 1


async def test_only_the_session_that_is_needed_is_made_anew(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [
            step("old", "test.session", text="old"),
            step("new", "test.session", text="new"),
            step("gate", "test.switch"),
            step("use", "test.session_use"),
        ]
    )
    first = await lab.ended(run_id)
    await lose(lab, session_of(first, "old"))
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.outputs["use"]["text"] == "new"
    assert len(run.attempts["old"]) == 1, "as the preview says"


async def test_a_session_nobody_needs_any_more_may_be_gone(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("make", "test.precious"), step("gate", "test.switch"), step("end", "test.echo")])
    first = await lab.ended(run_id)
    await lose(lab, session_of(first, "make"))
    bench.failing = False
    await lab.resume(run_id)
    assert (await lab.ended(run_id)).state is RunState.SUCCEEDED


async def test_a_session_whose_pack_must_not_run_again_is_unavailable(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [step("make", "test.precious"), step("gate", "test.switch"), step("use", "test.session_use")]
    )
    first = await lab.ended(run_id)
    await lose(lab, session_of(first, "make"))
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.failure["code"] == "session_unavailable"
    assert len(run.attempts["make"]) == 1
    assert run.step("make").state is StepState.SUCCEEDED


async def test_a_step_with_effects_that_used_the_session_is_not_repeated(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [
            step("make", "test.session"),
            step("send", "test.sends_from_session"),
            step("gate", "test.switch"),
            step("use", "test.session_use"),
        ]
    )
    first = await lab.ended(run_id)
    await lose(lab, session_of(first, "make"))
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.failure["code"] == "session_unavailable"
    assert len(run.attempts["send"]) == 1


async def test_session_unavailable_during_a_run_makes_it_anew_as_one_retry(lab: Laboratory, signals: Signals):
    run = await lab.run([step("make", "test.session"), step("use", "test.uses_or_loses", retry=AT_ONCE)])
    assert run.state is RunState.SUCCEEDED
    assert [len(run.attempts[key]) for key in ("make", "use")] == [2, 2]
    first, second = (attempt.session_used for attempt in run.attempts["use"])
    assert first != second
    assert run.outputs["use"]["text"] == second
    assert (await find_sessions(lab.store, [first or ""]))[first or ""].ended_at is not None


async def test_only_packs_that_declare_it_leave_a_session(lab: Laboratory, signals: Signals):
    async def body(ctx: PackContext, given: Anything) -> str:
        await ctx.start_session()
        return "left"

    signals.body = body
    run = await lab.run([step("a", "test.scripted")])
    assert run.failure["code"] == "handler_failed"
    assert "preserves_session" in run.failure["message"]


async def test_the_janitor_spares_what_a_run_may_need(tmp_path: Path, bench: Workbench):
    limits = replace(QUICK, session_idle_seconds=900)
    async with laboratory(tmp_path, bench.packs, limits=limits) as lab:
        run_id = await lab.start([step("make", "test.session"), step("gate", "test.switch")])
        run = await lab.ended(run_id)
        folder = lab.resources.sessions_folder / session_of(run, "make")
        assert await lab.engine.housekeeping.sweep_sessions() == 0
        assert folder.is_dir(), "a failed run's session lives until its time is over"
        old = datetime.now(UTC) - timedelta(seconds=901)
        for table, column in (("session", "last_used_at"), ("run", "ended_at")):
            back = Sql(f"UPDATE {table} SET {column} = :old")
            await lab.store.write(lambda conn, back=back: conn.run(back, {"old": old}))
        stray = lab.resources.sessions_folder / "sess_without_a_row"
        stray.mkdir()
        assert await lab.engine.housekeeping.sweep_sessions() == 2
        assert not folder.exists()
        assert not stray.exists()


async def test_a_session_ended_by_hand_counts_as_gone(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [step("make", "test.session"), step("gate", "test.switch"), step("use", "test.session_use")]
    )
    first = await lab.ended(run_id)
    assert await lab.store.write(end_sessions_of_run, run_id) == {session_of(first, "make")}
    bench.failing = False
    await lab.resume(run_id)
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert len(run.attempts["make"]) == 2


async def test_a_crash_between_putting_back_and_running_again_changes_nothing(lab: Laboratory, bench: Workbench):
    steps = [
        step("make", "test.session", text="note"),
        step("slow", "test.slow"),
        step("gate", "test.switch"),
        step("use", "test.session_use"),
    ]
    bench.release.set()
    run_id = await lab.start(steps)
    first = await lab.ended(run_id)
    await lose(lab, session_of(first, "make"))
    bench.failing = False
    await lab.engine.stop(1)
    await lab.resume(run_id)
    engine = await lab.restart(start=False)

    async def interrupted(run: object) -> None:
        failure = await recreate(run)  # type: ignore[arg-type]
        assert failure is None
        raise asyncio.CancelledError

    recreate = engine.worker._sessions.recreate
    engine.worker._sessions.recreate = interrupted  # type: ignore[method-assign, assignment]
    await engine.start()
    await lab.reached(run_id, lambda found: found.step("make").state is StepState.PENDING)
    await lab.crash()
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert [len(run.attempts[key]) for key in ("make", "slow", "gate", "use")] == [2, 1, 2, 1]


PLAN = some.lists(some.sampled_from(["leaves", "uses", "names", "fails"]), min_size=5, max_size=8)


@pytest.mark.slow
@given(plan=PLAN, choices=some.lists(some.integers(0, 100), min_size=30, max_size=30))
async def test_a_step_works_in_its_own_session_whatever_is_lost_on_the_way(
    tmp_path_factory: pytest.TempPathFactory, plan: list[str], choices: list[int]
):
    """Steps that fail once, and machines that lose any of the workspaces meanwhile, change nothing of what is read."""
    steps, expected, left = [], {}, []
    for place, kind in enumerate(plan):
        key = f"s{place}"
        if kind == "leaves":
            steps.append(step(key, "test.session", text=key))
            left.append(key)
        elif kind == "fails":
            steps.append(step(key, "test.scripted"))
        elif left:
            named = left[choices.pop() % len(left)] if kind == "names" else None
            more = {} if named is None else {"_session_id": f"${{{{ steps.{named}.output._session_id }}}}"}
            steps.append(step(key, "test.session_use", **more))
            expected[key] = named or left[-1]
    signals, bench, failing = Signals(), Workbench(), {each["id"] for each in steps if each["pack"] == "test.scripted"}

    async def body(ctx: PackContext, given: Anything) -> str:
        if ctx.step_key in failing:
            failing.remove(ctx.step_key)
            raise PackError("invalid_input", "The first time it fails.")
        return "passed"

    signals.body = body
    if not steps:
        return
    async with laboratory(tmp_path_factory.mktemp("lab"), [*bench.packs, *engine_packs(signals)]) as lab:
        run_id = await lab.start(steps)
        run = await lab.ended(run_id)
        while run.state is RunState.FAILED:
            for key in left:
                session = run.step(key).session_id
                if session is not None and choices.pop() % 2:
                    await asyncio.to_thread(shutil.rmtree, lab.resources.sessions_folder / session, ignore_errors=True)
            await lab.resume(run_id)
            run = await lab.ended(run_id)
        assert run.state is RunState.SUCCEEDED
        assert {key: run.outputs[key]["text"] for key in expected} == expected
        tried = [attempt.state for key in expected for attempt in run.attempts[key]]
        assert set(tried) <= {AttemptState.SUCCEEDED}, "what was gone was made again before a step needed it"
