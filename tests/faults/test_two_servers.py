"""Two real servers on one PostgreSQL: what one does the other shows, stops and carries on.

Which of the two takes a run is a race, so tests ask who has it and do things from the other one.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import signal
import tempfile
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import psycopg
import pytest
import pytest_asyncio
import websockets

from store.database.revisions import head_revision
from tests.support.databases import OwnServer, empty_database, server_url
from tests.support.graphql_client import PATIENCE_SECONDS, GraphQLSocket
from tests.support.servers import ADMIN_TOKEN, Fleet, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.servers import Call, Calls, RealServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.timeout(300),
]

#: A lost run is taken over within the lease and the sweep. The lease must outlast what a loaded machine stalls.
LEASE_SECONDS, RESCUE_SECONDS = 8, 0.25
#: What a takeover may take on a loaded machine beyond that.
SLACK_SECONDS = 10.0
CALLER_LIMIT = 3

_RUN = """
    id state failure { code message } output { json }
    steps { key state output { json } attempts { number state } }
"""
_numbers = itertools.count(1)


# -- the two -----------------------------------------------------------------------------------------------


@dataclass
class Two:
    """Two servers, a database, and the calls their packs make.

    Attributes:
        paths: The pack folders of each server, if they differ.
    """

    fleet: Fleet
    calls: Calls
    database: str
    servers: dict[str, RealServer]
    paths: dict[str, str] = field(default_factory=dict)

    @property
    def a(self) -> RealServer:
        return self.servers["a"]

    @property
    def b(self) -> RealServer:
        return self.servers["b"]

    def holder(self, call: Call) -> RealServer:
        """The server that makes a call."""
        return self.servers[call.server]

    def other(self, call: Call) -> RealServer:
        """The server that does not."""
        return self.b if call.server == "a" else self.a

    async def revive(self) -> None:
        """Starts what has ended again."""
        for name in ("a", "b"):
            server = self.servers.get(name)
            if server is None or server.process.returncode is not None:
                paths = {"pack_path": self.paths[name]} if self.paths else {}
                self.servers[name] = await self.fleet.up(name, **paths)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pair(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Two]:
    with empty_database() as url:
        async with held_calls() as calls:
            fleet = Fleet(
                tmp_path_factory.mktemp("servers"),
                url,
                calls,
                lease_seconds=LEASE_SECONDS,
                rescue_seconds=RESCUE_SECONDS,
                caller_concurrent_runs=CALLER_LIMIT,
                session_wait_seconds=0,
                shutdown_grace_seconds=0.2,
            )
            two = Two(fleet, calls, url, {})
            migrated = await asyncio.gather(fleet.run("a", "migrate"), fleet.run("b", "migrate"))
            assert [status for status, _ in migrated] == [0, 0], migrated
            started = await asyncio.gather(fleet.up("a"), fleet.up("b"))
            two.servers = {server.name: server for server in started}
            try:
                yield two
            finally:
                await fleet.down()


@pytest_asyncio.fixture(loop_scope="module")
async def two(pair: Two) -> Two:
    await pair.revive()
    return pair


# -- what tests say ----------------------------------------------------------------------------------------


def step(key: str, pack: str = "held.step", **given: Any) -> dict[str, Any]:
    return {"id": key, "pack": pack, "input": given or {"text": key}}


async def save(server: RealServer, *steps: dict[str, Any]) -> str:
    """Saves a pipeline of its own for the test; its key."""
    key = f"pipeline-{next(_numbers)}"
    document = {"key": key, "name": key, "steps": list(steps)}
    answer = await server.command(
        "mutation ($document: JSON!) { createPipeline(definition: {document: $document}) {"
        " __typename ... on Problem { message } } }",
        document=document,
    )
    assert answer["__typename"] == "PipelineSuccess", answer
    return key


async def start(server: RealServer, key: str, **inputs: Any) -> dict[str, Any]:
    answer = await server.command(
        "mutation ($pipeline: ID!, $inputs: JSON!) { runPipeline(pipeline: $pipeline, inputs: $inputs) {"
        " __typename ... on StartRunSuccess { coalesced run { id state } } ... on Problem { message } } }",
        pipeline=key,
        inputs=inputs,
    )
    assert answer["__typename"] == "StartRunSuccess", answer
    return answer


async def started(server: RealServer, *steps: dict[str, Any]) -> str:
    """The id of a run of these steps."""
    return str((await start(server, await save(server, *steps)))["run"]["id"])


async def ended(server: RealServer, run: str) -> dict[str, Any]:
    answer = await server.ask(
        f"query ($id: ID!) {{ waitRun(id: $id, waitSeconds: 15) {{ timedOut run {{ {_RUN} }} }} }}", id=run
    )
    assert not answer["waitRun"]["timedOut"], answer
    found: dict[str, Any] = answer["waitRun"]["run"]
    return found


async def look(server: RealServer, run: str) -> dict[str, Any]:
    found: dict[str, Any] = (await server.ask(f"query ($id: ID!) {{ run(id: $id) {{ {_RUN} }} }}", id=run))["run"]
    return found


def attempts(run: dict[str, Any]) -> dict[str, list[str]]:
    return {step["key"]: [attempt["state"] for attempt in step["attempts"]] for step in run["steps"]}


_EVENTS = """subscription ($id: ID!, $after: Cursor) { runEvents(id: $id, after: $after) {
    __typename
    ... on RunEventBatch { events { sequence cursor ... on RunStateChanged { runState } } }
    ... on RunEventsEnd { cursor run { state } } } }"""


@dataclass
class Watch:
    """A subscription to a run's events, read in the background."""

    sequences: list[int]
    states: list[str]
    news: asyncio.Event
    task: asyncio.Task[None] | None = None

    async def seen(self, count: int) -> None:
        """Waits until so many events have come."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.sequences) < count:
                self.news.clear()
                await self.news.wait()

    async def over(self) -> None:
        """Waits for the end; every event came once and in order."""
        assert self.task is not None
        async with asyncio.timeout(PATIENCE_SECONDS):
            await self.task
        assert self.sequences == list(range(1, len(self.sequences) + 1))
        assert sum(state in {"SUCCEEDED", "FAILED", "CANCELLED"} for state in self.states) == 1


async def watch(server: RealServer, run: str) -> Watch:
    """Watches a run; returns once the first events have come."""
    seen = Watch([], [], asyncio.Event())

    async def read() -> None:
        async with aclosing(server.subscribe(_EVENTS, id=run)) as messages:
            async for message in messages:
                assert message["__typename"] in {"RunEventBatch", "RunEventsEnd"}, message
                for event in message.get("events", ()):
                    seen.sequences.append(event["sequence"])
                    seen.states += [event["runState"]] if "runState" in event else []
                seen.news.set()

    seen.task = asyncio.create_task(read())
    await seen.seen(1)
    return seen


# -- tests -------------------------------------------------------------------------------------------------


async def test_a_run_is_watched_on_the_other_server_without_a_gap(two: Two) -> None:
    run = await started(two.a, step("one"), step("two"), step("three"))
    call = await two.calls.next(run, step="one")
    watching = await watch(two.other(call), run)
    before = len(watching.sequences)

    for key in ("one", "two", "three"):
        call = call if key == "one" else await two.calls.next(run, step=key)
        call.go()
        await watching.seen(before + 2)
        before = len(watching.sequences)
    await watching.over()

    found = await look(two.other(call), run)
    assert attempts(found) == {"one": ["SUCCEEDED"], "two": ["SUCCEEDED"], "three": ["SUCCEEDED"]}
    assert len({call.server for call in two.calls.of(run)}) == 1


_CANCEL = "mutation ($id: ID!) { cancelRun(id: $id) { __typename ... on Problem { message } } }"


async def test_a_cancel_on_the_other_server_takes_effect_at_once(two: Two) -> None:
    took = 0.0
    for _ in range(3):
        run = await started(two.a, step("one"))
        call = await two.calls.next(run)
        watching = await watch(two.holder(call), run)
        begun = asyncio.get_running_loop().time()
        answer = await two.other(call).command(_CANCEL, id=run)
        await asyncio.wait_for(call.ended.wait(), PATIENCE_SECONDS)
        took += asyncio.get_running_loop().time() - begun
        assert answer["__typename"] == "RunSuccess", answer
        await watching.over()
        assert (await look(two.other(call), run))["state"] == "CANCELLED"
    assert took < 2 * LEASE_SECONDS / 3, "renewals of the lease told of the cancels"
    assert [states for states in watching.states if states == "CANCELLED"] == ["CANCELLED"]


async def test_a_killed_servers_run_goes_on_at_the_other(two: Two) -> None:
    run = await started(two.a, step("one"), step("two"), step("three"))
    (await two.calls.next(run, step="one")).go()
    lost = await two.calls.next(run, step="two")
    watching = await watch(two.other(lost), run)

    begun = asyncio.get_running_loop().time()
    await two.holder(lost).kill()
    again = await two.calls.next(run, step="two")
    took = asyncio.get_running_loop().time() - begun

    assert again.server != lost.server
    assert took < LEASE_SECONDS + RESCUE_SECONDS + SLACK_SECONDS
    assert again.key == lost.key, "a provider must recognise the repeat"
    again.go()
    (await two.calls.next(run, step="three")).go()
    await watching.over()
    found = await look(two.other(lost), run)
    assert found["state"] == "SUCCEEDED"
    assert attempts(found) == {"one": ["SUCCEEDED"], "two": ["LOST", "SUCCEEDED"], "three": ["SUCCEEDED"]}
    assert len(two.calls.of(run, "one")) == 1, "what was recorded does not run again"


async def test_who_executes_a_run_and_who_lost_it_is_shown(two: Two) -> None:
    listing = "{ workers { name alive running } server { health { name ok message } } }"
    telling = "query ($id: ID!) { run(id: $id) { worker takeovers { worker previousWorker lost } } }"

    async def alive(server: RealServer) -> set[str]:
        return {worker["name"] for worker in (await server.ask(listing))["workers"] if worker["alive"]}

    both = await alive(two.a)
    run = await started(two.a, step("one"))
    lost = await two.calls.next(run)
    other = two.other(lost)
    before = (await other.ask(telling, id=run))["run"]
    assert before["worker"] in both
    assert before["takeovers"] == []

    await two.holder(lost).kill()
    again = await two.calls.next(run)

    after = (await other.ask(telling, id=run))["run"]
    assert after["worker"] in both - {before["worker"]}
    assert after["takeovers"] == [{"worker": after["worker"], "previousWorker": before["worker"], "lost": True}]
    told = await other.ask(listing)
    states = {worker["name"]: (worker["alive"], worker["running"]) for worker in told["workers"]}
    assert states[before["worker"]] == (False, 0)
    assert states[after["worker"]] == (True, 1)
    assert await alive(other) == {after["worker"]}
    (check,) = [check for check in told["server"]["health"] if check["name"] == "workers"]
    assert not check["ok"]
    assert check["message"].startswith("1 alive.")
    assert before["worker"] in check["message"]
    again.go()
    assert (await ended(other, run))["state"] == "SUCCEEDED"
    assert (await other.ask(telling, id=run))["run"] == {**after, "worker": None}

    await two.revive()
    assert await two.other(again).stop() == 0
    assert await alive(other) == {after["worker"]}, "a worker that stops is no longer listed"
    assert len((await other.ask(listing))["workers"]) == len(told["workers"])


async def test_a_stopped_servers_long_run_goes_on_at_the_other_at_once(two: Two) -> None:
    run = await started(two.a, step("one"), step("two"))
    let_go = await two.calls.next(run, step="one")
    watching = await watch(two.other(let_go), run)

    begun = asyncio.get_running_loop().time()
    stopping = asyncio.create_task(two.holder(let_go).stop())
    again = await two.calls.next(run, step="one")
    took = asyncio.get_running_loop().time() - begun

    assert again.server != let_go.server
    assert took < LEASE_SECONDS, "it was not given away but found when its lease ran out"
    assert await stopping == 0
    again.go()
    (await two.calls.next(run, step="two")).go()
    await watching.over()
    found = await look(two.other(let_go), run)
    assert (found["state"], len(two.calls.of(run, "one"))) == ("SUCCEEDED", 2)


async def test_a_frozen_server_writes_nothing_when_it_comes_back(two: Two) -> None:
    run = await started(two.a, step("one"), step("two"))
    frozen = await two.calls.next(run, step="one")
    holder, other = two.holder(frozen), two.other(frozen)
    watching = await watch(other, run)

    holder.signal(signal.SIGSTOP)
    try:
        again = await two.calls.next(run, step="one")
        assert again.server != frozen.server
        frozen.go()
    finally:
        holder.signal(signal.SIGCONT)
    await asyncio.wait_for(frozen.ended.wait(), PATIENCE_SECONDS)
    again.go()
    (await two.calls.next(run, step="two", server=other.name)).go()
    await watching.over()

    found = await look(holder, run)
    assert found["output"]["json"] == {"text": "two", "server": other.name}
    assert found["steps"][0]["output"]["json"]["server"] == other.name
    assert attempts(found) == {"one": ["LOST", "SUCCEEDED"], "two": ["SUCCEEDED"]}


async def test_the_callers_limit_holds_over_both(two: Two) -> None:
    key = await save(two.a, step("one", text="${{ inputs.text }}"))
    servers = itertools.cycle((two.a, two.b))
    answers = await asyncio.gather(*(start(next(servers), key, text=f"run {number}") for number in range(9)))
    runs = {answer["run"]["id"] for answer in answers}
    assert len(runs) == 9

    first = [await two.calls.next(*runs) for _ in range(CALLER_LIMIT)]
    assert len(two.calls.held()) == CALLER_LIMIT
    waiting = [await look(two.b, run) for run in runs - {call.run for call in first}]
    assert {run["state"] for run in waiting} == {"QUEUED"}
    for call in first:
        call.go()
    for _ in range(9 - CALLER_LIMIT):
        call = await two.calls.next(*runs)
        assert len(two.calls.held()) <= CALLER_LIMIT
        call.go()

    for run in runs:
        assert (await ended(two.b, run))["state"] == "SUCCEEDED"
        assert len(two.calls.of(run)) == 1


async def test_the_same_start_on_both_leads_to_one_run(two: Two) -> None:
    key = await save(two.a, step("one", text="${{ inputs.text }}"))

    answers = await asyncio.gather(*(start(server, key, text="same") for server in (two.a, two.b) * 4))

    assert len({answer["run"]["id"] for answer in answers}) == 1
    assert sorted(answer["coalesced"] for answer in answers) == [False] + [True] * 7
    run = answers[0]["run"]["id"]
    (await two.calls.next(run)).go()
    assert (await ended(two.b, run))["state"] == "SUCCEEDED"
    assert len(two.calls.of(run)) == 1


async def test_two_servers_remember_each_outcome_once_even_when_one_is_killed(two: Two) -> None:
    await two.a.command(
        'mutation { forgetMemory(scope: "all") { __typename ... on Problem { message } } }',
    )
    key = await save(two.a, step("one", "held.quick", text="${{ inputs.text }}"), step("two", "held.quick"))

    async def remembered(server: RealServer) -> list[tuple[str, str, bool]]:
        found = await server.ask(
            "query ($c: Cursor) { memoryEntries(first: 100, after: $c) { nodes { target isStep run { id } } } }"
        )
        return sorted((row["run"]["id"], row["target"], row["isStep"]) for row in found["memoryEntries"]["nodes"])

    runs = [
        (await start(server, key, text=f"text {number}"))["run"]["id"]
        for number, server in enumerate((two.a, two.b) * 8)
    ]
    # Both take up what has ended, at once and again and again, and one of them dies over it.
    await asyncio.gather(*(remembered(server) for server in (two.a, two.b) * 5))
    await two.a.kill()
    ends = await asyncio.gather(*(ended(two.b, run) for run in runs))
    assert {run["state"] for run in ends} == {"SUCCEEDED"}
    await two.revive()
    await asyncio.gather(*(remembered(server) for server in (two.a, two.b) * 5))

    seen = await remembered(two.b)
    assert seen == await remembered(two.a)
    assert [run for run, _, is_step in seen if not is_step] == sorted(runs)
    assert [run for run, _, is_step in seen if is_step] == sorted(runs * 2)


async def test_a_token_revoked_on_one_server_ends_streams_of_the_other(two: Two) -> None:
    made = await two.a.command(
        'mutation { createToken(name: "watcher", subject: "watcher", scopes: [READ, OBSERVE]) {'
        " __typename ... on CreateTokenSuccess { plaintext token { id } } } }"
    )
    run = await started(two.a, step("one"))
    call = await two.calls.next(run)
    async with GraphQLSocket.open(f"ws://127.0.0.1:{two.b.port}/graphql", token=made["plaintext"]) as stream:
        operation = await stream.start(_EVENTS, {"id": run})
        assert (await stream.receive())["id"] == operation

        begun = asyncio.get_running_loop().time()
        revoked = await two.a.command(
            "mutation ($id: ID!) { revokeToken(id: $id) { __typename } }", id=made["token"]["id"]
        )
        assert revoked["__typename"] == "RevokeTokenSuccess"
        assert await stream.close_code() == 4403
        assert asyncio.get_running_loop().time() - begun < 5
    with pytest.raises((AssertionError, websockets.ConnectionClosed)):
        async with GraphQLSocket.open(f"ws://127.0.0.1:{two.b.port}/graphql", token=made["plaintext"]):
            pass
    call.go()
    await ended(two.b, run)


async def test_a_caller_disabled_on_one_server_loses_its_streams_and_runs_on_the_other(two: Two) -> None:
    made = await two.a.command(
        'mutation { createToken(name: "agent", subject: "agent", scopes: [READ, RUN]) {'
        " __typename ... on CreateTokenSuccess { plaintext } } }"
    )
    async with GraphQLSocket.open(f"ws://127.0.0.1:{two.b.port}/graphql", token=made["plaintext"]) as stream:
        answer = await stream.execute(
            'mutation { runPack(pack: "held.step", input: {text: "one"}) {'
            " ... on StartRunSuccess { run { id } } ... on Problem { message } } }"
        )
        run = answer["data"]["runPack"]["run"]["id"]
        await two.calls.next(run)
        operation = await stream.start(_EVENTS, {"id": run})
        assert (await stream.receive())["id"] == operation

        begun = asyncio.get_running_loop().time()
        disabled = await two.a.command(
            'mutation { disableCaller(caller: "agent") { ... on DisableCallerSuccess { cancelledRuns } } }'
        )
        assert disabled == {"cancelledRuns": 1}
        assert await stream.close_code() == 4403
        assert asyncio.get_running_loop().time() - begun < 5
    with pytest.raises((AssertionError, websockets.ConnectionClosed)):
        async with GraphQLSocket.open(f"ws://127.0.0.1:{two.b.port}/graphql", token=made["plaintext"]):
            pass
    assert (await ended(two.a, run))["state"] == "CANCELLED"


async def test_both_survive_the_loss_of_every_connection_to_the_database(two: Two) -> None:
    quick = [step(f"quick{number}", "held.quick") for number in range(10)]
    runs = [await started(server, step("one"), *quick, step("two")) for server in (two.a, two.b)]
    first = [await two.calls.next(run, step="one") for run in runs]
    watching = [await watch(server, run) for run in runs for server in (two.a, two.b)]

    for call in first:
        call.go()
    # A step whose result was cut off runs again, the held ones too.
    releasing = [asyncio.create_task(_release_each(two, runs, key)) for key in ("one", "two")]
    cut = 0
    for number in range(10):  # while each of them starts and records steps
        await two.calls.next(runs[number % 2], step=f"quick{number}")
        cut += terminate(two.database)
    assert cut > 10
    for each in watching:
        await each.over()
    for task in releasing:
        task.cancel()
    await asyncio.gather(*releasing, return_exceptions=True)

    for run in runs:
        found = await look(two.a, run)
        assert found["state"] == "SUCCEEDED"
        assert {states.count("SUCCEEDED") for states in attempts(found).values()} == {1}


async def _release_each(two: Two, runs: list[str], key: str) -> None:
    """Lets every call of a held step go on, until it is cancelled."""
    while True:
        (await two.calls.next(*runs, step=key)).go()


def terminate(database: str) -> int:
    """Ends every connection to a database, as a restart of PostgreSQL does; how many."""
    with psycopg.connect(server_url(), autocommit=True) as connection:
        ended = connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s",
            (urlsplit(database).path.removeprefix("/"),),
        )
        return ended.rowcount


async def test_wake_ups_come_again_once_a_database_that_was_stopped_is_back(tmp_path: Path) -> None:
    """Nothing but a wake-up ends the step: leases are renewed every 200 s."""
    with tempfile.TemporaryDirectory(prefix="packline-pg-") as folder:
        database = await asyncio.to_thread(OwnServer, Path(folder) / "data")
        try:
            async with held_calls() as calls:
                fleet = Fleet(tmp_path, database.url, calls, lease_seconds=600, rescue_seconds=600)
                try:
                    assert (await fleet.run("a", "migrate"))[0] == 0
                    servers = {name: await fleet.up(name) for name in ("a", "b")}
                    await _survives_a_restart(database, Two(fleet, calls, database.url, servers))
                finally:
                    await fleet.down()
        finally:
            await asyncio.to_thread(database.close)


async def _survives_a_restart(database: OwnServer, two: Two) -> None:
    run = await started(two.a, step("one"), step("two"))
    call = await two.calls.next(run, step="one")
    watching = await watch(two.other(call), run)
    before = len(watching.sequences)

    await asyncio.to_thread(database.stop)
    try:
        await _says_that_the_database_is_away(two.a)
    finally:
        await asyncio.to_thread(database.start)
    call.go()
    second = await two.calls.next(run, step="two")
    await watching.seen(before + 2)
    answer = await two.other(call).command(_CANCEL, id=run)
    assert answer["__typename"] == "RunSuccess", answer
    await asyncio.wait_for(second.ended.wait(), PATIENCE_SECONDS)
    await watching.over()
    assert (await look(two.a, run))["state"] == "CANCELLED"


async def _says_that_the_database_is_away(server: RealServer) -> None:
    """Every surface does, with 503 and without a word of the driver's."""
    away = "PostgreSQL cannot be reached right now. Try again in a moment."
    headers = {"authorization": "Bearer pk_unknown", "accept": "application/json"}
    mcp = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    async with httpx2.AsyncClient(base_url=server.url(), headers=headers, timeout=PATIENCE_SECONDS) as client:
        graphql = await client.post("/graphql", json={"query": "{ viewer { id } }"})
        assert (graphql.status_code, graphql.json()["errors"][0]["message"]) == (503, away)
        assert graphql.json()["errors"][0]["extensions"] == {"code": "UNAVAILABLE", "retryable": True}
        upload = await client.post("/artifacts?name=a.txt", content=b"a")
        assert (upload.status_code, upload.json()["problem"]["message"]) == (503, away)
        called = await client.post("/mcp", json=mcp)
        assert (called.status_code, called.json()["error"]["message"]) == (503, away)
        for answer in (
            await client.get("/artifacts/art_1"),
            await client.get("/skill.md"),
            await client.post("/login/links"),
            await client.post("/login", json={"token": "x"}),
        ):
            assert (answer.status_code, answer.text.strip()) == (503, away), answer.url
        page = await client.post("/login", data={"token": "x"}, headers={"accept": "text/html"})
        assert page.status_code == 503
        assert away in page.text
    with pytest.raises(websockets.ConnectionClosed) as closed:
        async with GraphQLSocket.open(f"ws://127.0.0.1:{server.port}/graphql", token="pk_unknown"):
            pass
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.reason == away
    assert not [line for line in server.output if "Traceback" in line]


async def test_a_session_of_a_lost_server_is_made_again(two: Two) -> None:
    run = await started(two.a, step("make", "held.session"), step("use", "held.reader"))
    lost = await two.calls.next(run, step="use")
    await two.holder(lost).kill()

    again = await two.calls.next(run, step="use")
    again.go()
    found = await ended(two.other(lost), run)

    assert again.server != lost.server
    assert found["state"] == "SUCCEEDED", found
    assert found["output"]["json"] == {"text": "make", "server": again.server}
    assert [call.server for call in two.calls.of(run, "make")] == [lost.server, again.server]
    assert attempts(found)["make"] == ["SUCCEEDED", "SUCCEEDED"]


async def test_an_artifact_of_the_other_data_folder_is_refused_with_the_reason(two: Two) -> None:
    run = await started(two.a, step("make", "held.artifact"), step("hold"))
    call = await two.calls.next(run, step="hold")
    holder, other = two.holder(call), two.other(call)
    made = (await look(holder, run))["steps"][0]["output"]["json"]["artifact_id"]
    call.go()
    await ended(holder, run)

    async with httpx2.AsyncClient(
        headers={"authorization": f"Bearer {ADMIN_TOKEN}"}, trust_env=False, timeout=60
    ) as http:
        assert (await http.get(holder.url(f"/artifacts/{made}"))).text == "make"
        elsewhere = await http.get(other.url(f"/artifacts/{made}"))
    assert elsewhere.status_code == 410
    assert "share their data folder too (PACKLINE_DATA_DIR)" in elsewhere.text
    assert elsewhere.headers["cache-control"] == "no-store"
    (error,) = (await other.admin.execute("query ($id: ID!) { artifactText(id: $id) { text } }", {"id": made})).errors
    assert (error["extensions"]["code"], elsewhere.text.strip()) == ("UNAVAILABLE", error["message"])


async def test_servers_that_share_a_data_folder_share_artifacts_and_sessions(two: Two) -> None:
    third = await two.fleet.up("c", data_dir=two.b.folder)
    two.servers["c"] = third
    try:
        await two.a.stop()
        artifact = "${{ steps.make.output.artifact_id }}"
        run = await started(
            two.b,
            step("make", "held.artifact"),
            step("leave", "held.session"),
            step("use", "held.reader"),
            step("open", "held.open", artifact_id=artifact),
        )
        lost = await two.calls.next(run, step="use")
        await two.servers[lost.server].kill()
        (await two.calls.next(run, step="use")).go()
        found = await ended(third if lost.server == "b" else two.b, run)

        assert found["state"] == "SUCCEEDED", found
        assert found["output"]["json"] == {"text": "make"}
        assert len(two.calls.of(run, "leave")) == 1, "the session is still there: both use one folder"
    finally:
        await third.kill()
        del two.servers["c"]


async def test_a_database_without_tables_is_refused_until_it_is_migrated(two: Two, tmp_path: Path) -> None:
    with empty_database() as url:
        fleet = Fleet(tmp_path, url, two.calls, log_format="console")
        status, output = await fleet.run("new", "up", "--port", "0")
        assert status == 1
        assert "is empty. Run `packline migrate` to make its tables." in output
        status, output = await fleet.run("new", "migrate", "--json")
        assert (status, json.loads(output)) == (0, {"type": "migrated", "before": None, "after": head_revision()})
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        for command in (("up", "--port", "0"), ("migrate",)):
            status, output = await fleet.run("new", *command)
            assert status != 0
            assert "a newer release wrote it" in output
    migrated = json.loads((await two.fleet.run("a", "migrate", "--json"))[1])
    assert migrated == {"type": "migrated", "before": head_revision(), "after": head_revision()}
