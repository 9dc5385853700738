"""Calls that wait, answered without the SDK's layers: what is told meanwhile, and who goes away."""

from __future__ import annotations

import asyncio
import json

import httpx2
import pytest

from tests.app.mcp.test_http import wire
from tests.app.mcp.test_quick import BY_SDK, plain
from tests.support.mcp_agent import agent, told
from tests.support.waiting import eventually


def call(tool, arguments, **meta):
    """A request as `wire` has it, with more of its envelope."""
    headers, body = wire("newest", "tools/call", name=tool, arguments=arguments)
    message = json.loads(body)
    message["params"]["_meta"] |= meta
    return headers, json.dumps(message).encode()


def told_of(stream):
    """The messages of a stream of events."""
    assert stream.headers["content-type"] == "text/event-stream"
    assert stream.headers["cache-control"] == "no-cache, no-transform"
    lines = [line for line in stream.text.splitlines() if line and line not in ("event: message", ": ping")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


async def under_way(house, bench):
    """The id of a run that goes on until it is released."""
    async with agent(house) as client:
        arguments = {"pack": "test.slow", "input": {"text": "x"}, "wait_seconds": 0}
        run = told(await client.call_tool("run_pack", arguments))
    await bench.started.wait()
    return run["run_id"]


async def test_answers_of_calls_that_wait_are_the_same_with_and_without_the_sdk(house, quick):
    once = {"pack": "test.echo", "input": {"text": "é ✓"}, "wait_seconds": 20, "idempotency_key": "twice"}
    async with agent(house) as client:
        run_id = told(await client.call_tool("run_pack", once))["run_id"]
    quick.clear()
    calls = [
        ("wait_run", {"run_id": run_id, "wait_seconds": 0}),
        ("wait_run", {"run_id": run_id}),
        ("wait_run", {"run_id": run_id, "wait_seconds": 1, "until_change": True}),
        ("wait_run", {"run_id": "run_nobody"}),
        ("wait_run", {"run_id": run_id, "wait_seconds": 99}),
        ("run_pack", once),
        ("run_pipeline", {"pipeline": "nothing"}),
        ("resume_run", {"run_id": run_id}),
        ("graphql_query", {"query": "{ runs(first: 1) { nodes { title } } }"}),
        ("graphql_query", {"query": "{ nothing }"}),
    ]
    async with httpx2.AsyncClient(timeout=60) as http:
        for tool, arguments in calls:
            headers, body = call(tool, arguments)
            shortly = await http.post(house.url("/mcp"), headers=headers, content=body)
            assert quick.pop() == tool
            at_length = await http.post(house.url("/mcp"), headers={**headers, **BY_SDK}, content=body)
            assert quick == []
            assert plain(shortly) == plain(at_length)


async def test_progress_is_told_as_the_sdk_tells_it(house, bench, quick, monkeypatch):
    monkeypatch.setattr("app.mcp.operation_tools.FIRST_SECONDS", 0)
    monkeypatch.setattr("app.mcp.waiting.TELL_SECONDS", 1)
    run_id = await under_way(house, bench)
    quick.clear()
    headers, body = call("wait_run", {"run_id": run_id, "wait_seconds": 2}, progressToken="mine")
    streams = []
    async with httpx2.AsyncClient(timeout=60) as http:
        for more in ({}, BY_SDK):
            streams.append(told_of(await http.post(house.url("/mcp"), headers={**headers, **more}, content=body)))
    assert quick == ["wait_run"]
    for *progress, answer in streams:
        assert progress
        assert {message["method"] for message in progress} == {"notifications/progress"}
        assert {message["params"]["progressToken"] for message in progress} == {"mine"}
        assert answer["result"]["structuredContent"]["timed_out"] is True
    assert streams[0][0] == streams[1][0]
    assert streams[0][-1] == streams[1][-1]


async def test_a_silent_wait_says_that_it_is_alive(house, bench, quick, monkeypatch):
    monkeypatch.setattr("app.mcp.held.PING_SECONDS", 0.05)
    headers, body = call("wait_run", {"run_id": await under_way(house, bench), "wait_seconds": 50})
    quick.clear()
    told = b""
    async with (
        httpx2.AsyncClient(timeout=60) as http,
        http.stream("POST", house.url("/mcp"), headers=headers, content=body) as stream,
    ):
        assert stream.headers["content-type"] == "text/event-stream"
        async for piece in stream.aiter_bytes():
            told += piece
            if told.count(b": ping") >= 2:
                bench.release.set()
    assert quick == ["wait_run"]
    *pings, answer = told.strip().split(b"\r\n\r\n")
    assert len(pings) >= 2
    assert set(pings) == {b": ping"}
    result = json.loads(answer.removeprefix(b"event: message\r\ndata: "))["result"]
    assert result["structuredContent"]["state"] == "SUCCEEDED"


@pytest.mark.parametrize("ping_seconds", [60, 0.05])
async def test_who_goes_away_has_cancelled_the_wait_and_not_the_run(house, bench, monkeypatch, ping_seconds):
    monkeypatch.setattr("app.mcp.held.PING_SECONDS", ping_seconds)
    run_id = await under_way(house, bench)
    headers, body = call("wait_run", {"run_id": run_id, "wait_seconds": 50})
    head = "".join(f"{name}: {value}\r\n" for name, value in {**headers, "content-length": len(body)}.items())
    waits, flag = house.services.engine.bus._flags, f"end:{run_id}"
    reader, writer = await asyncio.open_connection("127.0.0.1", house.served.port)
    writer.write(f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n".encode() + body)
    await eventually(lambda: flag in waits)
    if ping_seconds < 1:
        await reader.readuntil(b": ping")
    writer.transport.abort()
    await eventually(lambda: flag not in waits)
    assert bench.cancelled == 0


async def test_who_takes_tasks_or_no_stream_is_left_to_the_sdk(house, quick):
    tasks = {"io.modelcontextprotocol/clientCapabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}}
    given = {"pack": "test.echo", "input": {"text": "tea"}, "wait_seconds": 20}
    async with httpx2.AsyncClient(timeout=60) as http:
        headers, body = call("run_pack", given, **tasks)
        assert (await http.post(house.url("/mcp"), headers=headers, content=body)).status_code == 200
        headers, body = call("run_pack", given)
        narrow = {**headers, "accept": "application/json"}
        assert (await http.post(house.url("/mcp"), headers=narrow, content=body)).status_code == 406
        assert quick == []
        headers, body = call("list_runs", {}, **tasks)
        assert (await http.post(house.url("/mcp"), headers=headers, content=body)).status_code == 200
    assert quick == ["list_runs"]
