"""The order of a start: runs of a former server go on while what answers requests is still being built."""

import asyncio

import pytest

import app.surfaces
from app.graphql.endpoint import GraphQLApp
from app.main import create_app
from app.server import run_app
from app.settings.server import Settings
from tests.support.front_door import command, ended
from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.packs import Workbench
from tests.support.product import offer, product


@pytest.fixture
def bench():
    return Workbench()


@pytest.fixture
async def left(tmp_path, bench):
    """The id of a run whose only step was under way when its server stopped."""
    async with product(tmp_path, bench.packs) as it:
        answer = await command(it, "runPack", pack="test.slow", input={"text": "tea"}, waitSeconds=0)
        await bench.started.wait()
    bench.started.clear()
    bench.release.set()
    return answer["run"]["id"]


@pytest.fixture
def settings(tmp_path, bench):
    """Of another server on the same folder."""
    return Settings.load(
        {
            "data_dir": tmp_path / "data",
            "port": 0,
            "pack_path": (offer(tmp_path, bench.packs),),
            "shutdown_grace_seconds": 1,
        }
    )


async def test_runs_of_a_former_server_go_on_before_anything_can_be_asked(tmp_path, bench, left, monkeypatch):
    loop = asyncio.get_running_loop()

    def once_the_run_goes_on(*given, **more):
        asyncio.run_coroutine_threadsafe(bench.started.wait(), loop).result(PATIENCE_SECONDS)
        return GraphQLApp(*given, **more)

    monkeypatch.setattr(app.surfaces, "GraphQLApp", once_the_run_goes_on)
    async with product(tmp_path, bench.packs) as it:
        assert (await ended(it, left))["state"] == "SUCCEEDED"
    assert bench.calls("test.slow") == 2


async def test_surfaces_that_cannot_be_built_end_the_start_and_leave_nothing_open(
    tmp_path, bench, left, settings, monkeypatch
):
    def broken(*_given, **_more):
        raise RuntimeError("the schema is broken")

    with monkeypatch.context() as patched:
        patched.setattr(app.surfaces, "GraphQLApp", broken)
        application = create_app(settings)
        with pytest.raises(RuntimeError, match="the schema is broken"):
            await run_app(application, settings, announce=unexpected)
        assert application.services is None
    async with product(tmp_path, bench.packs) as it:
        assert (await ended(it, left))["state"] == "SUCCEEDED"


async def test_a_server_told_to_stop_while_its_surfaces_are_built_stops_well(
    tmp_path, bench, left, settings, monkeypatch
):
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def told_to_stop(*given, **more):
        loop.call_soon_threadsafe(stop.set)
        return GraphQLApp(*given, **more)

    with monkeypatch.context() as patched:
        patched.setattr(app.surfaces, "GraphQLApp", told_to_stop)
        application = create_app(settings)
        await run_app(application, settings, announce=heard, on_stopping=application.begin_stopping, stop=stop)
        assert application.services is None
    async with product(tmp_path, bench.packs) as it:
        assert (await ended(it, left))["state"] == "SUCCEEDED"


async def heard(_url):
    pass


async def unexpected(url):
    pytest.fail(f"it answers at {url}")
