"""After a crash, a lost lease, a lost wake-up or a store that fails: the run goes on, and nothing is recorded twice."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from store.database.dialects import Sql
from store.database.errors import StoreError, StoreFullError
from store.runs.admission import offer
from store.runs.claim import claim, release_leases
from store.runs.unit_types import NotClaimed
from store.states import AttemptState, RunState, StepState
from tests.support.engine import QUICK, Laboratory, laboratory, step
from tests.support.engine_packs import Anything, Signals, engine_packs
from tests.support.waiting import pass_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from packline import PackContext
    from store.database.dialects import Connection
    from tests.support.packs import Workbench


# ------------------------------------------------------------------------------------------------ crashes


async def test_a_run_goes_on_at_the_first_step_without_success(lab: Laboratory, bench: Workbench):
    run_id = await lab.start(
        [step("a", "test.echo", text="x"), step("b", "test.slow", text="${{ steps.a.output.text }}")]
    )
    await bench.started.wait()
    await lab.crash()
    assert (await lab.fared(run_id)).state is RunState.RUNNING
    bench.release.set()
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.SUCCEEDED
    assert bench.calls("test.echo") == 1
    assert [attempt.state for attempt in run.attempts["b"]] == [AttemptState.LOST, AttemptState.SUCCEEDED]
    assert len({attempt.idempotency_key for attempt in run.attempts["b"]}) == 1, "a provider can tell the repeat"
    assert "run running" in run.told()[3:]
    assert run.ends() == ["succeeded"]


async def test_an_at_most_once_step_lost_with_its_process_is_not_repeated(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.once")])
    await bench.started.wait()
    await lab.crash()
    await lab.restart()
    run = await lab.ended(run_id)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "outcome_unknown")
    assert run.failure["step_key"] == "a"
    assert bench.calls("test.once") == 1
    assert run.step("a").state is StepState.FAILED
    bench.release.set()
    await lab.resume(run_id)
    assert (await lab.ended(run_id)).state is RunState.SUCCEEDED, "a person may decide to run it again"


async def test_a_pack_that_kills_its_process_does_not_do_so_for_ever(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow"), step("b", "test.echo")])
    for _ in range(5):
        await bench.started.wait()
        bench.started.clear()
        await lab.crash()
        await lab.restart()
    run = await lab.ended(run_id)
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "handler_failed")
    assert "5 times in a row" in run.failure["message"]
    assert bench.calls("test.slow") == 5


async def test_a_run_that_ends_its_process_while_it_starts_does_not_do_so_for_ever(lab: Laboratory, bench: Workbench):
    await lab.engine.stop(0)
    await lab.restart(start=False)
    run_id = await lab.start([step("a", "test.echo"), step("b", "test.echo")])
    for number in range(5):
        lost = await lab.store.write(claim, run_id, owner=f"lost {number}", lease_seconds=0.0)
        assert not isinstance(lost, NotClaimed)
        await lab.store.write(release_leases)
    await lab.engine.start()
    run = await lab.ended(run_id)
    assert (run.state, run.failure["code"], run.failure["step_key"]) == (RunState.FAILED, "handler_failed", "a")
    assert run.failure["message"] == "The server was lost 5 times in a row while it was starting step a (test.echo)."
    assert bench.calls("test.echo") == 0

    await lab.resume(run_id)
    assert (await lab.ended(run_id)).state is RunState.SUCCEEDED, "a resume counts anew"


async def test_a_cancel_of_a_run_whose_server_died_ends_it(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow")])
    await bench.started.wait()
    await lab.crash()
    assert await lab.cancel(run_id) is RunState.CANCELLING, "its lease is still good"
    await lab.restart()
    run = await lab.ended(run_id)
    assert run.state is RunState.CANCELLED
    assert run.ends() == ["cancelled"]
    assert bench.calls("test.slow") == 1


async def test_a_cancel_of_a_run_whose_lease_is_over_ends_it_at_once(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow")])
    await bench.started.wait()
    await lab.crash()
    await lab.store.write_few(lambda conn: conn.run(Sql("UPDATE run SET lease_until = created_at")))
    assert await lab.cancel(run_id) is RunState.CANCELLED
    assert (await lab.fared(run_id)).ends() == ["cancelled"]


# ------------------------------------------------------------------------------------------------ lost wake-ups


async def test_the_rescue_finds_runs_whose_every_dispatch_was_lost(lab: Laboratory, bench: Workbench):
    lab.store.wakes.committed = lambda woken: None  # type: ignore[method-assign]
    run_ids = [await lab.start([step("a", "test.echo", text=str(number))]) for number in range(20)]
    for run_id in run_ids:
        assert (await lab.ended(run_id)).state is RunState.SUCCEEDED
    assert bench.calls("test.echo") == 20


async def test_repeated_deliveries_run_nothing_twice(lab: Laboratory, bench: Workbench):
    run_id = await lab.start([step("a", "test.slow")])
    await bench.started.wait()
    for _ in range(10):
        await lab.store.write_few(offer, run_id)
        await lab.engine.worker.advance(run_id)
    bench.release.set()
    run = await lab.ended(run_id)
    await lab.engine.worker.advance(run_id)
    assert bench.calls("test.slow") == 1
    assert run.record.epoch == 1


# ------------------------------------------------------------------------------------------------ lost leases


async def test_a_worker_that_lost_its_run_stops_and_writes_nothing(tmp_path: Path, bench: Workbench):
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=0.3, rescue_seconds=30)) as lab:
        run_id = await lab.start([step("a", "test.slow")])
        await bench.started.wait()

        def take_over(conn: Connection) -> object:
            """At once, or the worker would renew its lease in between."""
            conn.run(Sql("UPDATE run SET lease_until = created_at"))
            return claim(conn, run_id, owner="another", lease_seconds=60)

        taken = await lab.store.write_few(take_over)
        assert getattr(taken, "epoch", None) == 2
        before = (await lab.fared(run_id)).record.next_seq
        await lab.reached(run_id, lambda _: not lab.engine.worker._active)
        found = await lab.fared(run_id)
        assert (found.record.next_seq, found.record.owner) == (before, "another")
        assert bench.cancelled == 1


async def test_a_worker_that_cannot_renew_stops_before_others_may_own_its_runs(tmp_path: Path, bench: Workbench):
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, lease_seconds=0.4, rescue_seconds=30)) as lab:
        run_id = await lab.start([step("a", "test.slow")])
        await bench.started.wait()
        write = lab.store.write

        async def unreachable(unit: object, *args: object, **kwargs: object) -> object:
            if getattr(unit, "__name__", "") == "sign_of_life":
                await asyncio.Event().wait()
            return await write(unit, *args, **kwargs)  # type: ignore[arg-type]

        lab.store.write = unreachable  # type: ignore[method-assign, assignment]
        await lab.reached(run_id, lambda _: bench.cancelled == 1)
        lab.store.write = write  # type: ignore[method-assign]
        assert (await lab.fared(run_id)).attempts["a"][0].state is AttemptState.RUNNING, "nothing was written"


# ------------------------------------------------------------------------------------------------ a failing store


@pytest.mark.parametrize("error", [StoreFullError("The disk is full."), StoreError("The database is away.")])
@pytest.mark.parametrize("failing", ["settle", "take", "start_attempt", "fail_run"])
async def test_a_run_that_cannot_be_recorded_is_let_go_and_goes_on_later(
    tmp_path: Path, bench: Workbench, signals: Signals, error: StoreError, failing: str
):
    # A lease that no stall outlasts: a step that must not run twice would be given up with it.
    limits = replace(QUICK, lease_seconds=15, rescue_seconds=0.05)
    async with laboratory(tmp_path, [*bench.packs, *engine_packs(signals)], limits=limits) as lab:
        signals.body = lambda ctx, given: "done"
        bench.release.set()
        if failing == "take":
            lab.engine._dispatcher.has_lane = lambda: False  # type: ignore[method-assign]
        write = lab.store.write_few
        refused: list[str] = []

        async def refuse(unit: object, *args: object, **kwargs: object) -> object:
            name = getattr(unit, "__name__", "")
            if (name == failing or (refused and name == "abandon")) and len(refused) < 3:
                refused.append(name)
                if name == "abandon":
                    # The next renewal lets go of it; who asked may be the renewal, which sleeps from now on.
                    asyncio.get_running_loop().call_soon(pass_time, limits.lease_seconds / 3)
                raise error
            return await write(unit, *args, **kwargs)  # type: ignore[arg-type]

        lab.store.write_few = refuse  # type: ignore[method-assign, assignment]
        bad = failing == "fail_run"
        # The first step begins with the claim, but one that must not run twice by itself.
        first = "test.once" if failing == "start_attempt" else "test.scripted"
        base = await lab.new_run([step("a", first), step("b", "test.scripted")])
        if bad:
            base = replace(base, pack="p", document='{"steps":5}', pipeline_id=None, version_id=None)
        run_id = (await lab.engine.submit(base)).run_id
        run = await lab.ended(run_id)
        assert run.state is (RunState.FAILED if bad else RunState.SUCCEEDED)
        assert refused
        assert len(run.ends()) == 1


async def test_a_defect_fails_the_run_instead_of_keeping_it(lab: Laboratory, bench: Workbench):
    preparation = lab.engine.worker._preparer
    preparation.next = lambda stretch: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    run = await lab.run([step("a", "test.echo")])
    assert (run.state, run.failure["code"]) == (RunState.FAILED, "internal")
    assert run.record.id in run.failure["message"]


async def test_progress_that_cannot_be_recorded_does_not_fail_the_step(lab: Laboratory):
    refused: set[str] = set()

    def refusing(way: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def write(unit: object, *args: object, **kwargs: object) -> object:
            name = getattr(unit, "__name__", "")
            if name in {"record_progress", "append_log_lines"}:
                refused.add(name)
                raise StoreFullError("The disk is full.")
            return await way(unit, *args, **kwargs)

        return write

    lab.store.write = refusing(lab.store.write)  # type: ignore[method-assign, assignment]
    lab.store.write_few = refusing(lab.store.write_few)  # type: ignore[method-assign, assignment]
    run = await lab.run([step("a", "test.progress", count=10)])
    assert run.state is RunState.SUCCEEDED
    assert refused == {"record_progress", "append_log_lines"}


# ------------------------------------------------------------------------------------------------ any prefix


class _PlannedError(Exception):
    pass


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    length=some.integers(1, 6),
    stops=some.lists(
        some.tuples(some.integers(0, 5), some.sampled_from(["fails", "crashes", "is cancelled", "is stopped"])),
        max_size=4,
    ),
    topic=some.text(some.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20),
)
async def test_going_on_after_any_prefix_gives_what_a_straight_run_gives(
    tmp_path_factory: pytest.TempPathFactory, length: int, stops: list[tuple[int, str]], topic: str
):
    """Guarantee R5: outputs are byte for byte the same however often and wherever the run was interrupted."""
    signals = Signals()
    planned = [(position % length, how) for position, how in stops]
    recorded: list[tuple[str, str]] = []
    reached: asyncio.Queue[str] = asyncio.Queue()

    async def body(ctx: PackContext, given: Anything) -> Any:
        position = int(ctx.step_key[1:])
        if planned and planned[0][0] <= position:
            how = planned.pop(0)[1]
            reached.put_nowait(how)
            if how != "fails":
                await asyncio.Event().wait()
            raise _PlannedError
        recorded.append((ctx.step_key, ctx.idempotency_key))
        return {"seen": given.value, "n": position, "half": position / 2}

    signals.body = body
    steps = [
        step(f"s{n}", "test.scripted", value="${{ inputs.topic }}" if n == 0 else f"${{{{ steps.s{n - 1}.output }}}}")
        for n in range(length)
    ]
    async with laboratory(tmp_path_factory.mktemp("lab"), engine_packs(signals)) as lab:
        run_id = await lab.start(steps, {"topic": topic})
        for _ in stops:
            how = await reached.get()
            if how in {"crashes", "is stopped"}:
                await (lab.crash() if how == "crashes" else lab.engine.stop(0))
                await lab.restart()
                continue
            if how == "is cancelled":
                await lab.cancel(run_id)
            await lab.ended(run_id)
            await lab.resume(run_id)
        run = await lab.ended(run_id)
        assert run.state is RunState.SUCCEEDED
        assert [key for key, _ in recorded] == [f"s{n}" for n in range(length)], "no success was repeated"
        straight = await lab.run(steps, {"topic": topic})
        assert run.outputs == straight.outputs
        assert run.inputs == straight.inputs
        finals = [how for _, how in stops if how in {"fails", "is cancelled"}]
        assert len(run.ends()) == len(finals) + 1, "one end for each stretch"
