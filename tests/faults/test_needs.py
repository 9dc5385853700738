"""Two real servers on one PostgreSQL that differ in what they have: a program, a pack, a major version, a session."""

from __future__ import annotations

import asyncio
import textwrap
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.faults.test_two_servers import Two, attempts, ended, look, save, start, started, step
from tests.support.databases import ready_database
from tests.support.servers import PACKS, Fleet, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]

LEASE_SECONDS, RESCUE_SECONDS, SESSION_WAIT_SECONDS = 4, 0.25, 15
RUNS = 60

#: Server b alone has the renderer, and the second major version.
_ON_BOTH = '''
    """Packs whose needs and versions differ between servers."""

    import os

    from pydantic import BaseModel

    from packline import Missing, PackContext, Service, pack

    HERE = os.environ["HELD_SERVER"]


    def _probe():
        return None if HERE == "b" else Missing("The renderer is not installed.", "Install it.")


    class Input(BaseModel):
        """Any text."""

        text: str = ""


    class Output(BaseModel):
        """Where it ran."""

        server: str


    @pack("varied.render", version="1.0.0", effects="none", repeatable=True, services=[Service("renderer", _probe)])
    async def render(ctx: PackContext, input: Input) -> Output:
        """Needs the renderer."""
        return Output(server=HERE)


    @pack("varied.major", version="2.0.0" if HERE == "b" else "1.0.0", effects="none", repeatable=True)
    async def major(ctx: PackContext, input: Input) -> Output:
        """Exists in two versions."""
        return Output(server=HERE)
'''
_ON_B = '''
    """A pack that one server has."""

    import os

    from pydantic import BaseModel

    from packline import PackContext, pack


    class Input(BaseModel):
        """Any text."""

        text: str = ""


    class Output(BaseModel):
        """Where it ran."""

        server: str


    @pack("varied.rare", version="1.2.0", effects="none", repeatable=True)
    async def rare(ctx: PackContext, input: Input) -> Output:
        """Is on one server."""
        return Output(server=os.environ["HELD_SERVER"])
'''


def _folder(parent: Path, name: str, text: str) -> Path:
    file = parent / name / "packs" / "varied" / f"{name}.py"
    file.parent.mkdir(parents=True)
    file.write_text(textwrap.dedent(text))
    return parent / name


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unequal(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Two]:
    folder = tmp_path_factory.mktemp("servers")
    both, only_b = _folder(folder, "both", _ON_BOTH), _folder(folder, "only_b", _ON_B)
    paths = {"a": f"{PACKS}:{both}", "b": f"{PACKS}:{both}:{only_b}"}
    with ready_database(starters=True) as url:
        async with held_calls() as calls:
            fleet = Fleet(
                folder,
                url,
                calls,
                lease_seconds=LEASE_SECONDS,
                rescue_seconds=RESCUE_SECONDS,
                session_wait_seconds=SESSION_WAIT_SECONDS,
                shutdown_grace_seconds=0.2,
            )
            two = Two(fleet, calls, url, {}, paths)
            try:
                await two.revive()
                yield two
            finally:
                await fleet.down()


@pytest_asyncio.fixture(loop_scope="module")
async def two(unequal: Two) -> Two:
    """Both servers, each of which knows of the other."""
    await unequal.revive()
    await _both_known(unequal)
    return unequal


async def _both_known(two: Two) -> None:
    """Wait until a accepts what only b can execute."""
    key = await save(two.b, step("render", "varied.render"), step("rare", "varied.rare"))

    async def available() -> bool:
        answer = await two.a.ask(
            "query ($key: ID!) { pipeline(id: $key) { availability { missing { name } } } }", key=key
        )
        return not answer["pipeline"]["availability"]["missing"]

    await eventually(available)


@pytest.mark.parametrize(
    ("pack", "version"),
    [("varied.render", None), ("varied.major", "2"), ("varied.rare", None)],
    ids=["a service is missing", "another major version", "the pack is missing"],
)
async def test_a_server_that_lacks_something_fails_no_run_and_accepts_all(two: Two, pack: str, version: str | None):
    fixed = {} if version is None else {"version": version}
    key = await save(two.b, {**step("only", pack, text="${{ inputs.text }}"), **fixed})
    servers = [two.a, two.b]
    made = [(await start(servers[n % 2], key, text=str(n)))["run"]["id"] for n in range(RUNS)]

    found = [await ended(servers[n % 2], run) for n, run in enumerate(made)]

    assert [run["state"] for run in found] == ["SUCCEEDED"] * RUNS, found
    assert {run["output"]["json"]["server"] for run in found} == {"b"}
    assert {tuple(attempts(run)["only"]) for run in found} == {("SUCCEEDED",)}


async def test_a_run_is_handed_over_with_the_result_before(two: Two):
    run = await started(two.a, step("first"), step("render", "varied.render"), step("last", "held.quick"))
    call = await two.calls.next(run, step="first")
    assert call.server == "a", "the start claims it"
    call.go()

    found = await ended(two.b, run)

    assert found["state"] == "SUCCEEDED", found
    assert attempts(found) == {key: ["SUCCEEDED"] for key in ("first", "render", "last")}
    found = await two.b.ask("query ($id: ID!) { run(id: $id) { takeovers { lost } } }", id=run)
    assert found["run"]["takeovers"] == [{"lost": False}]


async def test_a_run_waits_for_a_worker_that_has_what_it_needs(two: Two):
    run = await started(two.a, step("first"), step("render", "varied.render"))
    call = await two.calls.next(run, step="first")
    assert call.server == "a", "the start claims it"
    await two.b.kill()
    call.go()

    waiting = "query ($id: ID!) { run(id: $id) { state wait { reason message } } }"

    async def waits() -> object:
        found = (await two.a.ask(waiting, id=run))["run"]
        return found if found["wait"] and found["wait"]["reason"] == "WORKER" else None

    found = await eventually(waits)
    assert found["wait"]["message"] == "waits for a worker with renderer"
    two.servers["b"] = await two.fleet.up("b", pack_path=two.paths["b"])
    ended_run = await ended(two.a, run)
    assert ended_run["state"] == "SUCCEEDED", ended_run
    assert attempts(ended_run) == {"first": ["SUCCEEDED"], "render": ["SUCCEEDED"]}


@pytest.mark.parametrize("moment", range(3))
async def test_a_server_killed_while_it_hands_over_loses_nothing(two: Two, moment: int):
    run = await started(two.a, step("first"), step("render", "varied.render"))
    call = await two.calls.next(run, step="first")
    call.go()
    if moment:
        await asyncio.wait_for(call.ended.wait(), 30)
    await two.holder(call).kill()
    other = two.other(call)
    if call.server == "b":
        two.servers["b"] = await two.fleet.up("b", pack_path=two.paths["b"])

    async def again() -> bool:  # if the result was lost, the first step is called once more
        for each in two.calls.of(run, "first"):
            if each.is_held:
                each.go()
        return (await look(other, run))["state"] == "SUCCEEDED"

    await eventually(again)
    tried = attempts(await look(other, run))
    assert tried["render"][-1:] == ["SUCCEEDED"]
    assert len(two.calls.of(run, "first")) <= 2


async def test_a_session_waits_for_its_machine_and_goes_on_there(two: Two):
    run = await started(two.a, step("make", "held.session"), step("use", "held.reader"))
    lost = await two.calls.next(run, step="use")
    home = lost.server
    await two.holder(lost).kill()
    two.servers[home] = await two.fleet.up(home, pack_path=two.paths[home])

    again = await two.calls.next(run, step="use")
    again.go()

    assert again.server == home
    assert (await ended(two.servers[home], run))["state"] == "SUCCEEDED"
    assert len(two.calls.of(run, "make")) == 1, "the session was still there"


async def test_a_session_whose_machine_stays_away_is_made_again(two: Two):
    run = await started(two.a, step("make", "held.session"), step("use", "held.reader"))
    lost = await two.calls.next(run, step="use")
    await two.holder(lost).kill()

    again = await two.calls.next(run, step="use")
    again.go()

    assert again.server != lost.server
    assert (await ended(two.other(lost), run))["state"] == "SUCCEEDED"
    assert [call.server for call in two.calls.of(run, "make")] == [lost.server, again.server]


async def test_a_run_between_two_steps_of_a_session_returns_to_its_machine(two: Two):
    run = await started(
        two.a, step("make", "held.session"), step("render", "varied.render"), step("use", "held.reader")
    )
    use = await two.calls.next(run, step="use")
    (made,) = two.calls.of(run, "make")
    use.go()

    assert use.server == made.server
    assert (await ended(two.a, run))["state"] == "SUCCEEDED"
    assert len(two.calls.of(run, "make")) == 1
