"""A clock that is set while runs are under way: what they wait for, they wait for no longer."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.clocks import Clock, steered_clock
from tests.support.front_door import ended, look, save, start, step, until_state
from tests.support.packs import Workbench
from tests.support.product import Product, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

RETRY = {"initial_seconds": 3, "max_seconds": 3, "jitter": 0}


class Scene(NamedTuple):
    """A product whose store goes by a clock of the test's."""

    it: Product
    clock: Clock
    bench: Workbench
    stop: Callable[[], Awaitable[None]]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def scene(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Scene]:
    bench = Workbench()
    with steered_clock(request.param) as clock:
        async with AsyncExitStack() as stack:
            running = product(tmp_path, bench.packs, database_url=clock.database_url, rescue_seconds=0.2)
            yield Scene(await stack.enter_async_context(running), clock, bench, stack.aclose)


async def test_a_clock_set_back_holds_no_retry(scene: Scene) -> None:
    it = scene.it
    await save(it, "flaky", step("a", "test.flaky", times=1, text="x", retry=RETRY))
    run_id = (await start(it, "flaky"))["run"]["id"]
    await until_state(it, run_id, "WAITING")
    scene.clock.set(hours=-1)
    assert (await look(it, run_id))["state"] == "WAITING", "the clock was set too late for this test"
    assert (await ended(it, run_id))["state"] == "SUCCEEDED"
    assert scene.bench.calls("test.flaky") == 2


async def test_a_clock_set_back_while_a_step_runs_holds_no_retry(scene: Scene) -> None:
    it = scene.it
    retry = {**RETRY, "initial_seconds": 0.1}
    hold, again = step("hold", "test.slow"), step("again", "test.flaky", times=1, retry=retry)
    await save(it, "held", hold, again)
    run_id = (await start(it, "held"))["run"]["id"]
    await scene.bench.started.wait()
    scene.clock.set(hours=-1)
    scene.bench.release.set()
    assert (await ended(it, run_id))["state"] == "SUCCEEDED"
    assert scene.bench.calls("test.flaky") == 2


async def test_after_a_restart_a_retry_waits_no_longer_than_at_first(scene: Scene, tmp_path: Path) -> None:
    await save(scene.it, "flaky", step("a", "test.flaky", times=1, text="x", retry=RETRY))
    run_id = (await start(scene.it, "flaky"))["run"]["id"]
    await until_state(scene.it, run_id, "WAITING")
    await scene.stop()
    scene.clock.set(hours=-1)
    async with product(tmp_path, scene.bench.packs, database_url=scene.clock.database_url) as it:
        assert (await ended(it, run_id))["state"] == "SUCCEEDED"
    assert scene.bench.calls("test.flaky") == 2


async def test_a_clock_set_forward_ends_no_wait_late(scene: Scene) -> None:
    it = scene.it
    hour = {"initial_seconds": 900, "max_seconds": 900, "jitter": 0}
    await save(it, "flaky", step("a", "test.flaky", times=1, text="x", retry=hour))
    run_id = (await start(it, "flaky"))["run"]["id"]
    await until_state(it, run_id, "WAITING")
    scene.clock.set(hours=1)
    told = await ended(it, run_id)
    assert told["state"] == "SUCCEEDED", "the hour in which nobody held it is no part of its deadline"
