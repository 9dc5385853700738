"""The tasks extension: a run is a task, with the same id, for clients that declare it and for no other."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from tests.support.front_door import save, step
from tests.support.mcp_agent import agent, content_of
from tests.support.packs import Workbench
from tests.support.product import product

EXTENSION = "io.modelcontextprotocol/tasks"


class Tasker:
    """Speaks the protocol of 2026 by hand, since no SDK drives the extension."""

    def __init__(self, it, *, token: str | None = None, declares: bool = True, query: str = "") -> None:
        self._url = it.url(f"/mcp{query}")
        self._token = token or it.token
        self._capabilities: dict[str, Any] = {"extensions": {EXTENSION: {}}} if declares else {}

    async def ask(self, method: str, *, header: str | None = None, **params: Any) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "tasker", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": self._capabilities,
        }
        headers = {
            "authorization": f"Bearer {self._token}",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": method,
        }
        wanted = header or params.get("taskId") or params.get("name")
        if wanted:
            headers["mcp-name"] = wanted
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        async with httpx2.AsyncClient(trust_env=False, timeout=60, verify=False) as http:
            answer = (await http.post(self._url, json=body, headers=headers)).json()
        return dict(answer)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        return dict((await self.ask("tools/call", name=tool, arguments=arguments))["result"])

    async def task(self, task_id: str) -> dict[str, Any]:
        return dict((await self.ask("tasks/get", taskId=task_id))["result"])


@pytest.fixture
async def bench() -> Workbench:
    return Workbench()


@pytest.fixture
def long_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends by itself is answered with its end, however busy the machine is."""
    monkeypatch.setattr("app.mcp.transport.tasks.MOMENT_SECONDS", 45)


async def test_a_long_run_is_a_task_with_the_runs_id_and_survives_a_restart(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        client = Tasker(it)
        told_of = (await client.ask("server/discover"))["result"]["capabilities"]["extensions"]
        assert EXTENSION in told_of
        task = await client.call("run_pack", pack="test.slow", input={})
        await bench.started.wait()
        assert task["resultType"] == "task"
        assert task["status"] == "working"
        assert task["taskId"].startswith("run_")
        assert task["ttlMs"] > task["pollIntervalMs"] > 0
        assert "result" not in task
        async with agent(it) as other:
            assert content_of(await other.call_tool("get_run", {"run_id": task["taskId"]}))["state"] == "RUNNING"
    bench.release.set()
    async with product(tmp_path, bench.packs) as it:
        async with agent(it) as other:
            await other.call_tool("wait_run", {"run_id": task["taskId"]})
        done = await Tasker(it).task(task["taskId"])
    assert (done["status"], done["resultType"]) == ("completed", "complete")
    assert done["result"]["structuredContent"]["state"] == "SUCCEEDED"
    assert done["createdAt"] == task["createdAt"]
    assert not done["result"].get("isError")


@pytest.mark.usefixtures("long_moment")
async def test_what_ends_at_once_is_answered_at_once(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        client = Tasker(it)
        answer = await client.call("run_pack", pack="test.echo", input={"text": "hi"})
        assert answer["structuredContent"]["state"] == "SUCCEEDED"
        refused = await client.call("run_pack", pack="test.eco", input={})
        assert refused["isError"]
        assert "resultType" not in refused or refused["resultType"] == "complete"
        found = await client.call("search_catalog", text="echo")
        assert found["structuredContent"]["items"]


async def test_a_pack_that_is_a_tool_of_its_own_is_a_task_too(tmp_path, bench, monkeypatch):
    async with product(tmp_path, bench.packs) as it:
        client = Tasker(it, query="?packs=test.slow,test.echo")
        with monkeypatch.context() as patient:
            patient.setattr("app.mcp.transport.tasks.MOMENT_SECONDS", 45)
            assert (await client.call("test_echo", text="hi"))["structuredContent"]["state"] == "SUCCEEDED"
        task = await client.call("test_slow", text="tea")
        assert (task["resultType"], task["status"]) == ("task", "working")
        bench.release.set()
        async with agent(it) as other:
            await other.call_tool("wait_run", {"run_id": task["taskId"]})
        done = await client.task(task["taskId"])
    assert (done["status"], done["result"]["structuredContent"]["output"]["text"]) == ("completed", "tea")


async def test_a_failed_run_is_a_completed_task_that_says_how_to_go_on(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        await save(it, "late", step("wait", "test.slow"), step("fail", "test.fail", message="No luck."))
        task = await Tasker(it).call("run_pipeline", pipeline="late", inputs={})
        bench.release.set()
        async with agent(it) as other:
            await other.call_tool("wait_run", {"run_id": task["taskId"]})
        done = await Tasker(it).task(task["taskId"])
    assert done["status"] == "completed"
    run = done["result"]["structuredContent"]
    assert (run["state"], run["failure"]["message"]) == ("FAILED", "No luck.")
    assert run["next"]["tool"] == "resume_run"


async def test_cancelling_a_task_cancels_the_run(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        client = Tasker(it)
        task = await client.call("run_pack", pack="test.slow", input={})
        assert (await client.ask("tasks/cancel", taskId=task["taskId"]))["result"]["resultType"] == "complete"
        async with agent(it) as other:
            run = content_of(await other.call_tool("wait_run", {"run_id": task["taskId"]}))
        assert run["state"] == "CANCELLED"
        assert (await client.task(task["taskId"]))["status"] == "cancelled"
        assert "result" in await client.ask("tasks/cancel", taskId=task["taskId"]), "twice is once"
        assert "result" in await client.ask("tasks/update", taskId=task["taskId"], inputResponses={"a": {}})


async def test_whoever_did_not_declare_it_never_meets_a_task(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        plain = Tasker(it, declares=False)
        run = await plain.call("run_pack", pack="test.slow", input={}, wait_seconds=0)
        assert run["structuredContent"]["next"]["tool"] == "wait_run"
        refused = await plain.ask("tasks/get", taskId=run["structuredContent"]["run_id"])
        assert refused["error"]["code"] == -32021
        assert EXTENSION in refused["error"]["data"]["requiredCapabilities"]["extensions"]
        bench.release.set()


async def test_tasks_of_others_and_of_nobody_do_not_exist(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        task = await Tasker(it).call("run_pack", pack="test.slow", input={})
        other = Tasker(it, token=await it.token_for("somebody else", "READ", "RUN"))
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            for wrong in (task["taskId"], "run_nothing", "a" * 3000):
                assert (await other.ask(method, taskId=wrong))["error"]["code"] == -32602, (method, wrong)
        mismatch = await Tasker(it).ask("tasks/get", taskId=task["taskId"], header="run_other")
        assert mismatch["error"]["code"] == -32020
        reader = Tasker(it, token=await it.token_for("watcher", "READ", "OBSERVE"))
        assert (await reader.task(task["taskId"]))["status"] == "working"
        assert "error" in await reader.ask("tasks/cancel", taskId=task["taskId"])
        bench.release.set()


async def test_a_connection_that_only_reads_cancels_no_task(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        task = await Tasker(it).call("run_pack", pack="test.slow", input={})
        reading = Tasker(it, query="?readonly=1")
        assert (await reading.task(task["taskId"]))["status"] == "working"
        assert "read-only" in (await reading.ask("tasks/cancel", taskId=task["taskId"]))["error"]["message"]
        assert (await reading.task(task["taskId"]))["status"] == "working"
        bench.release.set()


@pytest.mark.usefixtures("long_moment")
@pytest.mark.parametrize("declares", [True, False])
async def test_a_token_that_only_runs_is_told_of_the_run_it_starts(tmp_path, bench, declares):
    async with product(tmp_path, bench.packs) as it:
        token = await it.token_for("starter", "RUN")
        client = Tasker(it, token=token, declares=declares)
        ended = await client.call("run_pack", pack="test.echo", input={"text": "hi"})
        assert (ended["structuredContent"]["state"], ended["structuredContent"]["artifacts"]) == ("SUCCEEDED", [])
        started = await client.call("run_pack", pack="test.slow", input={}, wait_seconds=0)
        run = started["structuredContent"]
        assert run["run_id"].startswith("run_")
        assert "next" not in run, "it may not wait for it"
        cancelled = await client.call("cancel_run", run_id=run["run_id"])
        assert cancelled["structuredContent"]["run_id"] == run["run_id"]
        own = Tasker(it, token=token, declares=declares, query="?packs=test.echo")
        answered = await own.call("test_echo", text="tea")
        assert answered["structuredContent"]["output"]["text"] == "tea"


async def test_a_pack_that_is_a_tool_tells_its_run_to_who_may_only_start_it_and_asks_for_progress(tmp_path, bench):
    async with product(tmp_path, bench.packs) as it:
        token = await it.token_for("starter", "RUN")
        lines: list[float] = []

        async def tell(fraction: float, _total: float | None, _line: str | None) -> None:
            lines.append(fraction)

        async with agent(it, token=token, query="?packs=test.echo") as client:
            run = content_of(await client.call_tool("test_echo", {"text": "tea"}, progress_callback=tell))
    assert run["output"]["text"] == "tea"
