"""Real servers and workers as separate processes on one PostgreSQL."""

from __future__ import annotations

import asyncio
import itertools
import json
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from tests.support.databases import ready_database
from tests.support.graphql_client import PATIENCE_SECONDS
from tests.support.otlp_receiver import otlp_receiver
from tests.support.s3_server import s3_server
from tests.support.servers import ADMIN_TOKEN, Fleet, held_calls
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.servers import Calls, RealServer

pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.timeout(300)]

_numbers = itertools.count(1)
_WAITS = """query ($id: ID!) {
    run(id: $id) { state wait { message } steps { state attempts { state } } } }"""
_CALL = """mutation { runPack(pack: "held.step", input: {text: "x"}) {
    __typename ... on Problem { message hint } } }"""
_WORKERS = "{ workers { name alive running lanes } server { queuedRuns health { name ok message } } }"


@pytest_asyncio.fixture
async def calls() -> AsyncIterator[Calls]:
    async with held_calls() as calls:
        yield calls


@pytest_asyncio.fixture
async def fleet(tmp_path: Path, calls: Calls) -> AsyncIterator[Fleet]:
    """Processes that share a data folder, and a database with the schema."""
    with ready_database(starters=True) as url:
        fleet = Fleet(tmp_path, url, calls, data_dir=tmp_path / "shared", lease_seconds=8, rescue_seconds=0.25)
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


async def test_a_worker_answers_health_checks_and_scrapes_and_nothing_else(fleet: Fleet) -> None:
    worker = await fleet.worker("worker")
    async with httpx2.AsyncClient(base_url=worker.url()) as client:
        assert (await client.get("/healthz")).status_code == 200
        assert 'packline_workers{state="alive"} 1.0' in (await client.get("/metrics")).text
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


# -- draining ----------------------------------------------------------------------------------------------

_DRAIN = """mutation ($name: String!, $draining: Boolean!) { drainWorker(name: $name, draining: $draining) {
    __typename ... on DrainWorkerSuccess { worker { name draining running } } ... on Problem { message hint } } }"""


async def worker_name(server: RealServer, running: int) -> str:
    """The name of the only worker that holds so many runs."""
    [name] = [each["name"] for each in (await server.ask(_WORKERS))["workers"] if each["running"] == running]
    return str(name)


async def test_a_drained_worker_finishes_its_run_and_takes_no_other_one(fleet: Fleet, calls: Calls) -> None:
    server = await fleet.up("server", worker="off")
    await fleet.worker("first")
    held = await started(server, "one", "two")
    call = await calls.next(held)
    first = await worker_name(server, running=1)

    status, output = await fleet.run("server", "worker", "drain", first, "--server", server.url())
    assert (status, json.loads(output)["draining"]) == (0, True), output
    await fleet.worker("second")
    others = [await started(server, "other") for _ in range(4)]
    for run in others:
        other = await calls.next(run)
        assert other.server == "second"
        other.go()
        assert (await ended(server, run))["state"] == "SUCCEEDED"
    call.go()
    call = await calls.next(held, step="two")
    assert call.server == "first", "it finishes what it has"
    call.go()
    assert (await ended(server, held))["state"] == "SUCCEEDED"

    status, output = await fleet.run("server", "workers", "--server", server.url())
    rows = {row["name"]: row for row in map(json.loads, output.splitlines()) if row["type"] == "worker"}
    assert (rows[first]["draining"], rows[first]["running"], len(rows)) == (True, 0, 2)


async def test_a_worker_that_is_no_longer_drained_takes_runs_again(fleet: Fleet, calls: Calls) -> None:
    server = await fleet.up("server", worker="off")
    await fleet.worker("worker")
    held = await started(server, "one")
    (await calls.next(held)).go()
    assert (await ended(server, held))["state"] == "SUCCEEDED"
    name = await worker_name(server, running=0)
    assert (await server.command(_DRAIN, name=name, draining=True))["worker"]["draining"]
    run = await started(server, "one")
    assert (await server.command(_DRAIN, name=name, draining=False))["worker"]["draining"] is False
    (await calls.next(run)).go()
    assert (await ended(server, run))["state"] == "SUCCEEDED"
    unknown = await server.command(_DRAIN, name=f"{name}x", draining=True)
    assert unknown["__typename"] == "NotFoundProblem", unknown
    assert name in unknown["hint"]


# -- artifacts in one place --------------------------------------------------------------------------------


async def test_a_process_that_lacks_the_artifacts_of_others_is_refused(fleet: Fleet, tmp_path: Path) -> None:
    await fleet.up("server", shared_storage="on")
    await fleet.worker("same", shared_storage="on")
    for command in ("up", "worker"):
        elsewhere = tmp_path / "elsewhere"
        status, output = await fleet.run("other", command, shared_storage="on", data_dir=elsewhere, port=0)
        assert status == 1, output
        assert str(elsewhere / "blobs") in output
        assert "PACKLINE_SHARED_STORAGE=off" in output
        assert not elsewhere.exists(), list(elsewhere.rglob("*"))
    await fleet.worker("insists", shared_storage="off", data_dir=tmp_path / "elsewhere")


async def test_processes_with_folders_of_their_own_share_a_bucket(fleet: Fleet, tmp_path: Path) -> None:
    async with s3_server() as bucket:
        shared = {**bucket.settings(), "shared_storage": "on"}
        server = await fleet.up("server", worker="off", data_dir=tmp_path / "server", **shared)
        await fleet.worker("worker", data_dir=tmp_path / "worker", **shared)
        made = await server.command(
            """mutation { runPack(pack: "held.artifact", input: {text: "in the bucket"}, waitSeconds: 20) {
                ... on StartRunSuccess { run { state steps { artifacts { id } } } }
                ... on Problem { message } } }"""
        )
        assert made["run"]["state"] == "SUCCEEDED", made
        [artifact] = made["run"]["steps"][0]["artifacts"]
        async with httpx2.AsyncClient(
            base_url=server.url(), headers={"authorization": f"Bearer {ADMIN_TOKEN}"}
        ) as client:
            assert (await client.get(f"/artifacts/{artifact['id']}")).text == "in the bucket"
    assert not (tmp_path / "server" / "blobs").exists()


# -- losses ------------------------------------------------------------------------------------------------


async def test_the_run_of_a_lost_worker_waits_until_another_one_serves_it(fleet: Fleet, calls: Calls) -> None:
    short = {"lease_seconds": 2}
    server = await fleet.up("server", worker="off", **short)
    lost = await fleet.worker("lost", **short)
    run = await started(server, "one")
    await calls.next(run)
    await lost.kill()

    async def waits() -> object:
        found = (await server.ask(_WAITS, id=run))["run"]
        return found if found["state"] == "WAITING" else None

    found = await eventually(waits)
    assert found["wait"]["message"] == "waits for a worker that takes runs; there is none"
    assert [step["state"] for step in found["steps"]] == ["PENDING"]
    assert [attempt["state"] for attempt in found["steps"][0]["attempts"]] == ["LOST"]
    status, output = await fleet.run("server", "show", run, "--server", server.url())
    assert status == 0, output
    assert "waits for a worker that takes runs" in output
    await fleet.worker("other", **short)
    call = await calls.next(run, attempt=2)
    assert call.server == "other"
    call.go()
    ended_run = await ended(server, run)
    assert ended_run["state"] == "SUCCEEDED"
    assert [takeover["lost"] for takeover in ended_run["takeovers"]] == [True]


# -- what is refused, and what is left behind --------------------------------------------------------------


async def test_a_server_without_a_worker_offers_nothing(fleet: Fleet) -> None:
    status, output = await fleet.run("server", "up", "--no-worker", "--offers", "gpu")
    assert status == 2
    assert "cannot offer gpu" in output
    assert "packline worker" in output


async def test_a_taken_port_of_a_worker_names_its_setting_and_leaves_no_folder(fleet: Fleet, tmp_path: Path) -> None:
    worker = await fleet.worker("worker")
    status, output = await fleet.run("other", "worker", worker_port=worker.port, data_dir=tmp_path / "new")
    assert status == 1
    assert "PACKLINE_WORKER_PORT" in output
    assert not (tmp_path / "new").exists()


async def test_a_worker_that_other_machines_reach_answers_probes_by_any_name(fleet: Fleet) -> None:
    alone, reachable = await fleet.worker("alone"), await fleet.worker("reachable", host="0.0.0.0")
    by_address = {"host": "10.1.2.3:9000"}
    async with httpx2.AsyncClient() as client:
        assert (await client.get(alone.url("/healthz"), headers=by_address)).status_code == 400
        assert (await client.get(reachable.url("/healthz"), headers=by_address)).status_code == 200


async def test_commands_find_the_server_that_is_left_on_a_data_folder(fleet: Fleet, tmp_path: Path) -> None:
    first, second = await fleet.up("first"), await fleet.up("second")
    address = tmp_path / "shared" / "cli-address"
    assert address.read_text() == second.url("\n")
    assert await second.stop() == 0
    assert address.read_text() == first.url("\n")


async def test_a_pack_that_only_a_worker_has_is_refused_for_a_single_call_with_the_reason(fleet: Fleet) -> None:
    server = await fleet.up("server", worker="off", pack_path="")
    await fleet.worker("worker")

    async def refused() -> object:
        answer = await server.command(_CALL)
        assert answer["__typename"] != "StartRunSuccess", answer
        return answer if answer["__typename"] == "UnavailableProblem" else None

    answer = await eventually(refused)
    assert answer["message"].startswith("Only other workers have held.step.")
    assert "pipeline" in answer["hint"]


async def test_a_run_keeps_its_trace_when_its_worker_is_killed(
    fleet: Fleet, calls: Calls, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with otlp_receiver() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        server, first = await asyncio.gather(
            fleet.up("server", worker="off", log_level="info"), fleet.worker("first", log_level="info")
        )
        run = await started(server, "one", "two")
        (await calls.next(run, step="one")).go()
        await calls.next(run, step="two")
        before = await collector.first("step", packline_step_key="one")
        second = await fleet.worker("second", log_level="info")
        await first.kill()
        call = await calls.next(run, step="two", attempt=2)
        assert call.server == "second"
        call.go()
        assert (await ended(server, run))["state"] == "SUCCEEDED"
        spans = await collector.trace(before.trace, "run_pipeline", "run", "step", "step")
    (command,) = [span for span in spans if span.name == "run_pipeline"]
    (taken_over,) = [span for span in spans if span.name == "run"]
    assert taken_over.attributes["packline.run.taken_over"] is True
    assert taken_over.parent == command.id
    assert [span.attributes["packline.step.key"] for span in spans if span.name == "step"] == ["one", "two"]
    logged = [json.loads(line) for line in second.output if f'"{run}"' in line]
    assert {line["trace_id"] for line in logged} == {before.trace}
    assert {line["span_id"] for line in logged} == {taken_over.id}
