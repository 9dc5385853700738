"""Real servers and workers as separate processes on one PostgreSQL."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from tests.support.databases import empty_database
from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.servers import Fleet, held_calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.servers import Calls, RealServer

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(300)]

_numbers = itertools.count(1)
_WORKERS = "{ workers { name alive running lanes } server { queuedRuns health { name ok message } } }"


@pytest_asyncio.fixture
async def calls() -> AsyncIterator[Calls]:
    async with held_calls() as calls:
        yield calls


@pytest_asyncio.fixture
async def fleet(tmp_path: Path, calls: Calls) -> AsyncIterator[Fleet]:
    """Processes that share a data folder, and a database with the schema."""
    with empty_database() as url:
        fleet = Fleet(tmp_path, url, calls, data_dir=tmp_path / "shared", lease_seconds=8, rescue_seconds=0.25)
        status, output = await fleet.run("a", "migrate")
        assert status == 0, output
        try:
            yield fleet
        finally:
            await fleet.down()


async def started(server: RealServer, *steps: str) -> str:
    """The id of a run of held steps with these keys."""
    key = f"pipeline-{next(_numbers)}"
    document = {
        "key": key,
        "name": key,
        "steps": [{"id": step, "pack": "held.step", "input": {"text": step}} for step in steps],
    }
    saved = await server.command(
        "mutation ($document: JSON!) { createPipeline(definition: {document: $document}) {"
        " __typename ... on Problem { message } } }",
        document=document,
    )
    assert saved["__typename"] == "PipelineSuccess", saved
    answer = await server.command(
        "mutation ($pipeline: ID!) { runPipeline(pipeline: $pipeline) {"
        " __typename ... on StartRunSuccess { run { id } } ... on Problem { message } } }",
        pipeline=key,
    )
    assert answer["__typename"] == "StartRunSuccess", answer
    return str(answer["run"]["id"])


async def ended(server: RealServer, run: str) -> dict[str, Any]:
    answer = await server.ask(
        "query ($id: ID!) { waitRun(id: $id, waitSeconds: 15) { timedOut run { state"
        " takeovers { worker previousWorker lost } } } }",
        id=run,
    )
    assert not answer["waitRun"]["timedOut"], answer
    found: dict[str, Any] = answer["waitRun"]["run"]
    return found


async def test_a_worker_executes_what_a_server_without_one_accepted(fleet: Fleet, calls: Calls) -> None:
    server = await fleet.up("server", worker="off")
    run = await started(server, "one")
    before = await server.ask(_WORKERS)
    assert before["workers"] == []
    assert before["server"]["queuedRuns"] == 1
    [check] = [check for check in before["server"]["health"] if check["name"] == "workers"]
    assert (check["ok"], "packline worker" in check["message"]) == (False, True), check

    worker = await fleet.worker("worker", lanes=3)
    call = await calls.next(run)
    assert call.server == "worker"
    [listed] = (await server.ask(_WORKERS))["workers"]
    assert (listed["alive"], listed["running"], listed["lanes"]) == (True, 1, 3)
    assert any(listed["name"] in line for line in worker.output)
    call.go()
    assert (await ended(server, run))["state"] == "SUCCEEDED"


async def test_a_worker_answers_health_checks_and_nothing_else(fleet: Fleet) -> None:
    worker = await fleet.worker("worker")
    async with httpx2.AsyncClient(base_url=worker.url()) as client:
        assert (await client.get("/healthz")).status_code == 200
        for path in ("/", "/graphql", "/mcp", "/artifacts/art_1", "/login"):
            assert (await client.get(path)).status_code == 404, path


async def test_a_stopped_worker_hands_its_run_over_at_once(fleet: Fleet, calls: Calls) -> None:
    server = await fleet.up("server", worker="off")
    first = await fleet.worker("first", shutdown_grace_seconds=0.2)
    run = await started(server, "one")
    await calls.next(run)
    second = await fleet.worker("second")
    begun = asyncio.get_running_loop().time()
    assert await first.stop() == 0
    call = await calls.next(run, attempt=2)
    assert asyncio.get_running_loop().time() - begun < PATIENCE_SECONDS
    assert call.server == "second"
    assert [listed["running"] for listed in (await server.ask(_WORKERS))["workers"]] == [1]
    call.go()
    found = await ended(server, run)
    assert found["state"] == "SUCCEEDED"
    assert [takeover["lost"] for takeover in found["takeovers"]] == [False]
    assert second.process.returncode is None


@pytest.mark.parametrize(("command", "words"), [("worker", "PACKLINE_DATABASE_URL"), ("up", "--no-worker")])
async def test_the_embedded_database_has_no_workers(fleet: Fleet, command: str, words: str) -> None:
    status, output = await fleet.run("alone", command, database_url="sqlite", worker="off")
    assert status == 1
    assert words in output
    assert "PostgreSQL" in output
