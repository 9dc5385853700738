"""What agents and their programs get wrong, over the real transport: refused in words, and nothing else suffers."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp.shared.exceptions import MCPError

from app.mcp.transport.bridge import _lines
from store.database.wakes import Topic
from tests.app.mcp.transport.test_http import wire
from tests.support.databases import prepare_sqlite
from tests.support.front_door import save, step
from tests.support.mcp_agent import MODES, ToolRefused, agent, content_of, stdio_agent, stdio_environment
from tests.support.product import product
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from mcp import Client

PACKLINE = [sys.executable, "-c", "from app.cli import main; main()", "mcp"]
#: A value of each JSON type, none of which is another.
VALUES: dict[str, Any] = {"string": "text", "integer": 7, "boolean": True, "object": {"a": 1}, "array": ["a"]}
EVERY = "?toolsets=author"
TEN_MEGABYTES = "x" * 10_000_000


async def refusal(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    with pytest.raises(ToolRefused) as refused:
        content_of(await client.call_tool(tool, arguments))
    return refused.value.error


@pytest.mark.parametrize("mode", MODES)
async def test_every_parameter_of_every_tool_refuses_what_it_does_not_take(house, mode):
    taken = []
    async with agent(house, mode, query="?toolsets=author&packs=test.echo") as client:
        for tool in (await client.list_tools()).tools:
            for name, schema in tool.input_schema["properties"].items():
                types = {each["type"] for each in schema.get("anyOf", [schema])}
                types |= {"integer"} if "number" in types else set()
                wrong = next(value for kind, value in VALUES.items() if kind not in types)
                error = await refusal(client, tool.name, {name: wrong})
                if error["code"] != "INVALID" or name not in {each["path"] for each in error["field_errors"]}:
                    taken.append((tool.name, name, error))
            error = await refusal(client, tool.name, {"nonsense_nobody_takes": 1})
            if "nonsense_nobody_takes" not in {each["path"] for each in error["field_errors"]}:
                taken.append((tool.name, "nonsense_nobody_takes", error))
    assert taken == []


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_arguments_that_are_no_object_are_named(house, era):
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for given, kind in (([1], "an array"), ("{}", "a string"), (7, "a number"), (False, "a boolean")):
            headers, body = wire(era, "tools/call", name="list_runs", arguments=given)
            headers["authorization"] = f"Bearer {house.token}"
            answer = (await http.post(house.url("/mcp"), headers=headers, content=body)).text
            error = json.loads(answer[answer.index("{") :])["error"]
            assert error["code"] == -32602
            assert error["message"].startswith("`arguments` of a call must be an object")
            assert error["message"].endswith(f"this is {kind}.")


@pytest.mark.parametrize("mode", MODES)
async def test_a_wait_ends_with_the_right_to_its_answer(house, bench, mode):
    made = await house.mutate(
        """mutation { createToken(name: "short", scopes: [READ, RUN]) {
            ... on CreateTokenSuccess { plaintext token { id } } } }"""
    )
    revoke = "mutation ($id: ID!) { revokeToken(id: $id) { __typename } }"
    async with agent(house, mode, token=made["plaintext"]) as client:
        run = content_of(await client.call_tool("run_pack", {"pack": "test.slow", "wait_seconds": 0}))
        waiting = asyncio.create_task(client.call_tool("wait_run", {"run_id": run["run_id"], "wait_seconds": 50}))
        await eventually(lambda: bool(house.application.authenticator._watchers))
        await house.mutate(revoke, {"id": made["token"]["id"]})
        async with asyncio.timeout(60):
            refused = json.loads((await waiting).content[0].text)["error"]
    assert refused["code"] == "FORBIDDEN"
    assert "revoked" in refused["message"]
    assert "continues, unless the caller was disabled: then it is cancelled." in refused["message"]
    assert bench.cancelled == 0, "the run goes on"


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
async def test_a_text_that_no_store_can_hold_is_refused_wherever_it_stands(tmp_path, bench, database):
    taken = []
    async with product(tmp_path, bench.packs, database_url=database) as it, agent(it, query=EVERY) as client:
        for tool in (await client.list_tools()).tools:
            schemas = tool.input_schema["properties"]
            texts = [name for name, each in schemas.items() if each.get("type") == "string" and "enum" not in each]
            needed = {name: "x" for name in tool.input_schema.get("required", ())}
            needed |= {"if_version": 1} if "if_version" in needed else {}
            needed |= {name: schemas[name]["enum"][0] for name in needed if "enum" in schemas[name]}
            for name in texts:
                error = await refusal(client, tool.name, {**needed, name: "a\0b"})
                if [each["path"] for each in error.get("field_errors", ())] != [name]:
                    taken.append((tool.name, name, error))
        error = await refusal(client, "get_run", {"run_id": "run_\0"})
        variables = {"query": "query ($id: ID!) { run(id: $id) { id } }", "variables": {"id": "a\0"}}
        deep = await refusal(client, "graphql_query", variables)
    assert taken == []
    assert (error["code"], error["field_errors"][0]["rule"]) == ("INVALID", "forbidden_text")
    assert deep["field_errors"][0]["path"] == "variables"


@pytest.mark.parametrize("mode", MODES)
async def test_what_is_others_does_not_exist(house, mode):
    mine = await house.token_for("ada", "READ", "RUN", "WRITE")
    eve = await house.token_for("eve", "READ", "RUN", "WRITE")
    async with agent(house, mode, token=mine) as client:
        run = content_of(await client.call_tool("run_pack", {"pack": "test.artifact"}))
        key = {"pack": "test.echo", "input": {"text": "mine"}, "idempotency_key": "the same"}
        own = content_of(await client.call_tool("run_pack", key))
    run_id, artifact_id = run["run_id"], run["artifacts"][0]["id"]
    async with agent(house, mode, token=eve, query="?toolsets=author") as client:
        for tool in ("get_run", "wait_run", "cancel_run", "resume_run", "rerun_run", "promote_run"):
            assert (await refusal(client, tool, {"run_id": run_id}))["code"] == "NOT_FOUND", tool
        assert (await refusal(client, "get_artifact", {"artifact_id": artifact_id}))["code"] == "NOT_FOUND"
        query = f'{{ run(id: "{run_id}") {{ id }} node(id: "{artifact_id}") {{ id }} runs {{ nodes {{ id }} }} }}'
        seen = content_of(await client.call_tool("graphql_query", {"query": query}))["data"]
        assert seen == {"run": None, "node": None, "runs": {"nodes": []}}
        others = content_of(await client.call_tool("run_pack", key))
        assert (others["replayed"], others["run_id"] == own["run_id"]) == (False, False), "a key is its caller's own"


async def test_agents_that_start_the_same_at_once_start_it_once(house, bench):
    await save(house, "slow", step("wait", "test.slow", text="x"))
    arguments = {"pipeline": "slow", "wait_seconds": 0}
    async with agent(house) as one, agent(house, "legacy") as other:
        starts = [client.call_tool("run_pipeline", arguments) for client in (one, other) for _ in range(5)]
        runs = [content_of(result) for result in await asyncio.gather(*starts)]
        assert len({run["run_id"] for run in runs}) == 1
        assert sorted(run["coalesced"] for run in runs) == [False, *[True] * 9]
        bench.release.set()
        keyed = {"pack": "test.echo", "input": {"text": "once"}, "idempotency_key": "lost answer"}
        starts = [client.call_tool("run_pack", keyed) for client in (one, other) for _ in range(5)]
        runs = [content_of(result) for result in await asyncio.gather(*starts)]
        assert len({run["run_id"] for run in runs}) == 1
        changed = await refusal(one, "run_pack", {**keyed, "input": {"text": "twice"}})
        assert changed["code"] == "CONFLICT"
    assert bench.calls("test.slow") == 1
    assert bench.calls("test.echo") == 1
    stranger = await house.token_for("stranger", "READ", "RUN")
    async with agent(house, token=stranger) as client:
        assert content_of(await client.call_tool("run_pipeline", arguments))["coalesced"] is False


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_a_client_that_reads_no_progress_holds_nobody_up(house, bench, era, monkeypatch):
    monkeypatch.setattr("app.mcp.tools.operation_tools.FIRST_SECONDS", 0)
    monkeypatch.setattr("app.mcp.tools.waiting.PROGRESS_SECONDS", 1)
    arguments = {"pack": "test.slow", "input": {"text": "tea"}, "wait_seconds": 50}
    headers, body = wire(era, "tools/call", name="run_pack", arguments=arguments)
    message = json.loads(body)
    message["params"].setdefault("_meta", {})["progressToken"] = "never looked at"
    body = json.dumps(message).encode()
    head = b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
    reader, writer = await asyncio.open_connection("127.0.0.1", house.served.port, limit=1 << 20)
    writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nconnection: close\r\n" + head)
    writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)
    await bench.started.wait()
    async with agent(house) as client:
        for _ in range(3):
            (run,) = content_of(await client.call_tool("list_runs", {}))["items"]
            assert run["state"] == "RUNNING"
            waited = content_of(await client.call_tool("wait_run", {"run_id": run["run_id"], "wait_seconds": 1}))
            assert waited["timed_out"] is True
        bench.release.set()
        assert content_of(await client.call_tool("wait_run", {"run_id": run["run_id"]}))["state"] == "SUCCEEDED"
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()
    assert b"notifications/progress" in answer
    assert answer.count(b'"structuredContent"') == 1
    assert b'\\"state\\":\\"SUCCEEDED\\"' in answer


@pytest.mark.parametrize("mode", MODES)
async def test_ten_megabytes_on_stdin_are_refused_and_the_next_call_is_answered(tmp_path, house, mode):
    env = stdio_environment(tmp_path, PACKLINE_TOKEN=house.token)
    async with stdio_agent([*PACKLINE, "--server", house.url("").rstrip("/")], env, mode) as client:
        with pytest.raises(MCPError, match=r"The message has 10,000,\d+ bytes; the limit is 4,194,304\. Upload"):
            await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": TEN_MEGABYTES}})
        assert content_of(await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": "tea"}}))


@pytest.mark.slow
async def test_ten_megabytes_are_refused_by_an_embedded_server_too(tmp_path):
    prepare_sqlite(tmp_path / "own", starters=True)
    command = [*PACKLINE, "--data-dir", str(tmp_path / "own")]
    async with stdio_agent(command, stdio_environment(tmp_path)) as client:
        error = await refusal(client, "run_pack", {"pack": "doc.parse", "input": {"artifact_id": TEN_MEGABYTES}})
        assert error["code"] == "INVALID"
        assert len(json.dumps(error)) < 5_000
        error = await refusal(client, "get_run", {"run_id": TEN_MEGABYTES})
        assert (error["code"], len(json.dumps(error)) < 5_000) == ("NOT_FOUND", True)
        assert content_of(await client.call_tool("list_runs", {}))["items"] == []


@pytest.mark.parametrize("mode", MODES)
async def test_a_wait_that_is_cancelled_on_stdin_ends_and_the_run_goes_on(tmp_path, house, bench, mode):
    env = stdio_environment(tmp_path, PACKLINE_TOKEN=house.token)
    async with stdio_agent([*PACKLINE, "--server", house.url("").rstrip("/")], env, mode) as client:
        run = content_of(await client.call_tool("run_pack", {"pack": "test.slow", "wait_seconds": 0}))
        await bench.started.wait()
        waits, flag = house.services.engine.bus._flags, (Topic.RUN_ENDED, run["run_id"])
        waiting = asyncio.create_task(client.call_tool("wait_run", {"run_id": run["run_id"], "wait_seconds": 50}))
        await eventually(lambda: flag in waits)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await eventually(lambda: flag not in waits)
        assert content_of(await client.call_tool("get_run", {"run_id": run["run_id"]}))["state"] == "RUNNING"
    assert bench.cancelled == 0


async def test_a_line_that_is_longer_than_any_message_is_let_go():
    reader = asyncio.StreamReader(limit=100)
    reader.feed_data(b"one\n" + b"x" * 250 + b"\ntwo\n" + b"y" * 101 + b"\nthree")
    reader.feed_eof()
    assert [line async for line in _lines(reader)] == [b"one\n", None, b"two\n", None, b"three"]
