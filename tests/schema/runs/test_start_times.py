"""Runs that start later: they wait, say so, and start at their time, over a restart, too."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from store.states import RunState
from tests.support.engine import QUICK, laboratory
from tests.support.engine import step as step_of
from tests.support.front_door import command, ended, look, save, start, step
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.product import Product


def ahead(**span: float) -> str:
    return (datetime.now(UTC) + timedelta(**span)).isoformat(timespec="milliseconds")


@pytest.fixture
async def it(tmp_path: Path) -> AsyncIterator[Product]:
    async with product(tmp_path, Workbench().packs) as running:
        await save(running, "echo", step("only", "test.echo", text="x"))
        yield running


async def test_a_run_waits_for_its_start_time_and_can_be_cancelled(it: Product) -> None:
    then = ahead(hours=1)
    run = (await start(it, "echo", startAt=then))["run"]
    assert (run["state"], run["startedAt"]) == ("WAITING", None)
    assert datetime.fromisoformat(run["wait"].pop("until")) == datetime.fromisoformat(then)
    assert run["wait"] == {"reason": "START_TIME", "message": "starts later"}
    assert datetime.fromisoformat((await look(it, run["id"], select="startAt"))["startAt"]) == datetime.fromisoformat(
        then
    )
    again = await start(it, "echo", startAt=then)
    assert (again["coalesced"], again["run"]["id"]) == (True, run["id"])
    cancelled = (await command(it, "cancelRun", id=run["id"]))["run"]
    assert (cancelled["state"], cancelled["wait"]) == ("CANCELLED", None)


async def test_starts_at_other_times_are_other_runs(it: Product) -> None:
    tomorrow = (await start(it, "echo", startAt=ahead(days=1)))["run"]
    later = await start(it, "echo", startAt=ahead(days=2))
    assert (later["coalesced"], later["run"]["state"]) == (False, "WAITING")
    now = await start(it, "echo", wait=20)
    assert (now["coalesced"], now["run"]["state"]) == (False, "SUCCEEDED")
    assert len({tomorrow["id"], later["run"]["id"], now["run"]["id"]}) == 3


async def test_a_run_starts_at_its_time(it: Product) -> None:
    then = ahead(seconds=0.4)
    run = (await start(it, "echo", startAt=then))["run"]
    assert run["state"] == "WAITING"
    done = await ended(it, run["id"])
    assert done["state"] == "SUCCEEDED"
    assert datetime.fromisoformat(done["startedAt"]) >= datetime.fromisoformat(then)


async def test_a_pack_call_can_start_later(it: Product) -> None:
    run = (await command(it, "runPack", pack="test.echo", input={"text": "x"}, startAt=ahead(hours=1)))["run"]
    assert run["state"] == "WAITING"


async def test_a_start_time_that_has_passed_starts_at_once(it: Product) -> None:
    run = (await start(it, "echo", wait=20, startAt=ahead(hours=-1)))["run"]
    assert run["state"] == "SUCCEEDED"


async def test_a_start_time_needs_a_zone_and_lies_within_a_year(it: Product) -> None:
    refused = await start(it, "echo", startAt=ahead(days=400))
    assert refused["__typename"] == "InvalidProblem"
    assert refused["issues"][0]["path"] == ["startAt"]
    query = 'mutation { runPipeline(pipeline: "echo", startAt: "2030-01-31T06:00:00") { __typename } }'
    assert "with an offset" in (await it.answer(query)).errors[0]["message"]


async def test_a_start_time_survives_a_restart(tmp_path: Path) -> None:
    bench = Workbench()
    async with laboratory(tmp_path, bench.packs, limits=replace(QUICK, rescue_seconds=600)) as lab:
        now = await lab.store.write(lambda conn: conn.now())
        run_id = await lab.start([step_of("a", "test.echo")], start_at=now + timedelta(seconds=0.6))
        await lab.crash()
        await lab.restart()
        run = await lab.ended(run_id)
        assert run.state is RunState.SUCCEEDED
        assert run.told()[:2] == ["run waiting", "run running"]
