"""Calls answered without the SDK's layers: the same to the last member, and every refusal still the SDK's."""

from __future__ import annotations

import json

import httpx2
import pytest

from tests.app.mcp.test_http import NEWEST, wire
from tests.support.mcp_agent import agent, told
from tests.support.packs import Workbench
from tests.support.product import product

#: Leaves a call to the SDK: a quality says nothing here, and nobody but the SDK reads one.
BY_SDK = {"accept": "application/json;q=1, text/event-stream"}


@pytest.fixture
async def house(tmp_path):
    async with product(tmp_path, Workbench().packs) as running:
        yield running


def plain(answer):
    """An answer without what is another in every call."""
    body = answer.json()
    assert answer.headers["content-type"] == "application/json"
    text = json.loads(body["result"]["content"][0]["text"])
    if "error" in text:
        del text["error"]["request_id"]
    body["result"]["content"][0]["text"] = text
    return answer.status_code, body


async def test_answers_are_the_same_with_and_without_the_sdk(house, quick):
    async with agent(house) as client:
        content = {"name": "tea.txt", "content": "hot"}
        arguments = {"pack": "test.artifact", "input": content, "wait_seconds": 20}
        made = told(await client.call_tool("run_pack", arguments))
        artifact = made["artifacts"][0]["id"]
    quick.clear()
    calls = [
        ("get_run", {"run_id": made["run_id"], "detail": "full"}),
        ("get_run", {"run_id": "run_nobody"}),
        ("get_run", {"run": "misnamed"}),
        ("list_runs", None),
        ("get_artifact", {"artifact_id": artifact}),
        ("search_catalog", {"text": "écho ✓", "limit": 3}),
        ("get_pipeline", {"pipeline": "nothing"}),
    ]
    links = 0
    async with httpx2.AsyncClient(timeout=60) as http:
        for tool, arguments in calls:
            params = {} if arguments is None else {"arguments": arguments}
            headers, body = wire("newest", "tools/call", name=tool, **params)
            shortly = await http.post(house.url("/mcp"), headers=headers, content=body)
            assert quick.pop() == tool
            at_length = await http.post(house.url("/mcp"), headers={**headers, **BY_SDK}, content=body)
            assert quick == []
            assert plain(shortly) == plain(at_length)
            links += len(shortly.json()["result"]["content"]) - 1
    assert links >= 2


async def test_whatever_is_unusual_is_left_to_the_sdk(house, quick):
    headers, body = wire("newest", "tools/call", name="list_runs", arguments={"limit": 1})
    whole = json.loads(body)

    def changed(**members):
        return json.dumps(whole | {"params": whole["params"] | members}).encode()

    meta = whole["params"]["_meta"]
    key = "io.modelcontextprotocol/"
    refusals = [
        ({}, b"{", 400, -32700),
        ({}, json.dumps([whole]).encode(), 400, -32600),
        ({}, json.dumps(whole | {"id": True}).encode(), 400, -32600),
        ({}, changed(name="get_run"), 400, -32020),
        ({"mcp-method": "tools/list"}, body, 400, -32020),
        ({"mcp-protocol-version": "2027-01-01"}, body, 400, -32020),
        ({}, changed(_meta={}), 400, -32602),
        ({}, changed(_meta=meta | {f"{key}protocolVersion": "2025-06-18"}), 400, -32020),
        ({}, changed(_meta=meta | {f"{key}clientCapabilities": "all"}), 400, -32602),
        ({}, changed(_meta=meta | {f"{key}clientInfo": {"name": 1}}), 400, -32602),
        ({}, changed(arguments=[1]), 400, -32602),
    ]
    async with httpx2.AsyncClient(timeout=60) as http:
        for more, content, status, code in refusals:
            refused = await http.post(house.url("/mcp"), headers={**headers, **more}, content=content)
            assert (refused.status_code, refused.json()["error"]["code"]) == (status, code), content
        for name in ("mcp-method", "mcp-name", "mcp-protocol-version"):
            twice = [*headers.items(), (name, headers[name])]
            refused = await http.post(house.url("/mcp"), headers=twice, content=body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32020)
        assert (await http.get(house.url("/mcp"), headers=headers)).status_code == 405
        assert (await http.post(house.url("/mcp"), headers={**headers, "accept": "text/html"})).status_code == 406
        assert quick == []
        # Well, and read the SDK's way: whole numbers of any length, and bodies in pieces.
        answer = await http.post(house.url("/mcp"), headers=headers, content=changed(arguments={"limit": 10**30}))
        assert answer.json()["result"]["isError"] is True
        assert quick == []
        for token in ("t", 7):
            asked = changed(_meta=meta | {"progressToken": token})
            assert (await http.post(house.url("/mcp"), headers=headers, content=asked)).status_code == 200
    assert quick == ["list_runs", "list_runs"]
    assert headers["mcp-protocol-version"] == NEWEST


async def test_what_breaks_is_logged_and_not_told(house, quick, monkeypatch):
    def broken(*_):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr("app.mcp.quick.wire_answer", broken)
    headers, body = wire("newest", "tools/call", name="list_runs")
    async with httpx2.AsyncClient(timeout=60) as http:
        answer = await http.post(house.url("/mcp"), headers=headers, content=body)
    assert answer.json() == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "Internal server error"}}
    assert quick == ["list_runs"]
