"""The wire of `/mcp`: who is let in, what is too large, and what an abandoned connection leaves behind."""

from __future__ import annotations

import asyncio
import gc
import json

import httpx2
import pytest
from mcp.shared.exceptions import MCPError
from structlog.testing import capture_logs

from app.mcp.resources import handlers as resource_handlers
from app.mcp.session import Session
from app.mcp.transport.mount import BODY_BYTES
from store.database.wakes import Topic
from tests.support.mcp_agent import agent, content_of
from tests.support.product import ADMIN_TOKEN
from tests.support.waiting import eventually

NEWEST = "2026-07-28"
HEADERS = {
    "authorization": f"Bearer {ADMIN_TOKEN}",
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}
#: Connections broken off in the middle of a wait.
ABANDONED = 1_000


def wire(era: str, method: str, **params) -> tuple[dict[str, str], bytes]:
    """Headers and body of a request as either era writes it."""
    if era == "legacy":
        headers = {**HEADERS, "mcp-protocol-version": "2025-06-18"}
    else:
        headers = {**HEADERS, "mcp-protocol-version": NEWEST, "mcp-method": method}
        if "name" in params:
            headers["mcp-name"] = params["name"]
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": NEWEST,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return headers, json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()


async def test_nobody_gets_in_without_a_token_and_is_told_where_to_look(house):
    headers, body = wire("newest", "tools/list")
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for given in ({}, {"authorization": "Bearer wrong"}):
            plain = {name: value for name, value in headers.items() if name != "authorization"}
            refused = await http.post(house.url("/mcp"), headers={**plain, **given}, content=body)
            assert refused.status_code == 401
            challenge = refused.headers["www-authenticate"]
            assert ("invalid_token" in challenge) == bool(given)
            where = challenge.split('resource_metadata="')[1].split('"')[0]
            metadata = (await http.get(where)).json()
            assert metadata["resource"] == house.url("/mcp")
            assert metadata["bearer_methods_supported"] == ["header"]


async def test_foreign_names_origins_and_selections_are_refused(house):
    headers, body = wire("newest", "tools/list")
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:

        async def status(query="", **more):
            return (await http.post(house.url(f"/mcp{query}"), headers={**headers, **more}, content=body)).status_code

        assert await status() == 200
        assert await status(origin="https://evil.example") == 403
        assert await status(host="evil.example") == 400
        assert await status("?toolsets=autor") == 400
        assert await status("?packs=no.such") == 400
        assert await status("?packs=" + ",".join(f"p{number}" for number in range(100))) == 400


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_ten_megabytes_of_arguments_are_refused_cleanly(house, era):
    headers, body = wire(
        era, "tools/call", name="run_pack", arguments={"pack": "test.echo", "input": {"text": "x" * 10_000_000}}
    )
    assert len(body) > BODY_BYTES

    async def chunks():
        for start in range(0, len(body), 1 << 16):
            yield body[start : start + (1 << 16)]

    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for content in (body, chunks()):
            try:
                refused = await http.post(house.url("/mcp"), headers=headers, content=content)
            except httpx2.WriteError:  # told, and closed, while we were still sending
                continue
            assert refused.status_code == 413
        headers, body = wire(era, "tools/list")
        assert (await http.post(house.url("/mcp"), headers=headers, content=body)).status_code == 200


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_a_body_that_never_ends_is_refused_at_the_limit_and_the_connection_closed(house, era):
    headers, _ = wire(era, "tools/list")
    request = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
        + b"transfer-encoding: chunked\r\n\r\n"
    )
    reader, writer = await asyncio.open_connection("127.0.0.1", house.served.port)
    writer.write(request)
    # The server reads on to eight times the limit, so that the refusal arrives; it is not sent more than that here.
    for size in [*[1 << 20] * (8 * BODY_BYTES >> 20), 1]:
        writer.write(b"%x\r\n%b\r\n" % (size, b" " * size))
        await writer.drain()
    answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 413 ")
    message = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["message"]
    assert message.startswith(f"The request is longer than the limit of {BODY_BYTES:,} bytes. Upload large inputs with")
    writer.close()


async def test_a_body_in_chunks_is_read_as_any_other(house):
    async def chunks(body):
        for start in range(0, len(body), 10):
            yield body[start : start + 10]

    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for era in ("newest", "legacy"):
            headers, body = wire(era, "tools/list")
            assert (await http.post(house.url("/mcp"), headers=headers, content=chunks(body))).status_code == 200
            refused = await http.post(house.url("/mcp"), headers=headers, content=chunks(b"{}"))
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32600)
        capabilities = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        headers, body = wire("legacy", "initialize", **capabilities)
        assert "mcp-session-id" in (await http.post(house.url("/mcp"), headers=headers, content=chunks(body))).headers


async def test_requests_that_break_the_protocol_are_refused(house):
    headers, body = wire("newest", "tools/call", name="list_runs", arguments={"limit": 1})
    whole = json.loads(body)

    def changed(**members):
        return json.dumps(whole | {"params": whole["params"] | members}).encode()

    meta = whole["params"]["_meta"]
    key = "io.modelcontextprotocol/"
    refusals = [
        ({}, b"{", -32700),
        ({}, json.dumps([whole]).encode(), -32600),
        ({}, json.dumps(whole | {"id": True}).encode(), -32600),
        ({}, changed(name="get_run"), -32020),
        ({"mcp-method": "tools/list"}, body, -32020),
        ({"mcp-protocol-version": "2027-01-01"}, body, -32020),
        ({}, changed(_meta={}), -32602),
        ({}, changed(_meta=meta | {f"{key}protocolVersion": "2025-06-18"}), -32020),
        ({}, changed(_meta=meta | {f"{key}clientCapabilities": "all"}), -32602),
        ({}, changed(_meta=meta | {f"{key}clientInfo": {"name": 1}}), -32602),
        ({}, changed(arguments=[1]), -32602),
    ]
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:

        async def posted(given, content):
            return await http.post(house.url("/mcp"), headers=given, content=content)

        for more, content, code in refusals:
            refused = await posted({**headers, **more}, content)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, code), content
        for name in ("mcp-method", "mcp-name", "mcp-protocol-version"):
            refused = await posted([*headers.items(), (name, headers[name])], body)
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, -32020)
        assert (await http.get(house.url("/mcp"), headers=headers)).status_code == 405
        for accept in ("text/html", "application/json"):
            assert (await posted({**headers, "accept": accept}, body)).status_code == 406
        # Whole numbers are read exactly, however long they are.
        answer = (await posted(headers, changed(arguments={"limit": 10**30}))).json()["result"]
        assert answer["isError"] is True
        assert "a very large number" in answer["content"][0]["text"]


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_what_breaks_is_logged_and_not_told(house, monkeypatch, era):
    def broken(*_):
        raise RuntimeError("the secret inside")

    monkeypatch.setattr("app.mcp.transport.server.wire_answer", broken)
    headers, body = wire(era, "tools/call", name="list_runs", arguments={})
    with capture_logs() as logged:
        async with httpx2.AsyncClient(timeout=60, verify=False) as http:
            answer = await http.post(house.url("/mcp"), headers=headers, content=body)
    assert '"code":-32603' in answer.text
    assert "secret" not in answer.text
    assert [str(line["exc_info"]) for line in logged if line["error_id"] in answer.text] == ["the secret inside"]


async def test_a_call_of_the_handshake_versions_is_cancelled_by_its_client_alone(house, bench):
    async with agent(house) as client:
        run = content_of(
            await client.call_tool("run_pack", {"pack": "test.slow", "input": {"text": "x"}, "wait_seconds": 0})
        )
    await bench.started.wait()
    flag = (Topic.RUN_ENDED, run["run_id"])
    waits = house.services.engine.bus._flags
    other = await house.token_for("ben", "READ", "OBSERVE")

    def posted(body, **more):
        return http.post(house.url("/mcp"), headers={**HEADERS, **more}, content=json.dumps(body).encode())

    def cancel(request_id):
        return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}

    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        capabilities = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }
        hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": capabilities}
        names = [(await posted(hello)).headers["mcp-session-id"] for _ in range(2)]
        assert names[0] != names[1]
        named = {"mcp-session-id": names[0], "mcp-protocol-version": "2025-06-18"}
        params = {"name": "wait_run", "arguments": {"run_id": run["run_id"], "wait_seconds": 50}}
        call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        waiting = asyncio.create_task(posted(call, **named))
        await eventually(lambda: flag in waits)
        for number, more in (
            (8, named),
            (7, {**named, "mcp-session-id": names[1]}),
            (7, {**named, "authorization": f"Bearer {other}"}),
            (7, {"mcp-protocol-version": "2025-06-18"}),
        ):
            assert (await posted(cancel(number), **more)).status_code == 202
        assert flag in waits
        assert (await posted(cancel(7), **named)).status_code == 202
        await eventually(lambda: flag not in waits)
        answer = (await waiting).text
        assert json.loads(answer.split("data: ")[-1])["error"]["code"] == -32800
        # A server that has never heard of the client serves it all the same, and nothing is ever called out of date.
        listed = {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}
        assert (await posted(listed, **{**named, "mcp-session-id": "from-before-a-restart"})).status_code == 200


@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_a_client_that_hangs_up_in_the_middle_of_a_request_is_no_error_of_the_server(house, caplog, era):
    headers, _ = wire(era, "tools/call", name="run_pack", arguments={})
    request = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
        + b'content-length: 1000000\r\n\r\n{"jsonrpc":'
    )
    async with agent(house) as client:
        await client.call_tool("list_runs", {})
    before = asyncio.all_tasks()
    opened = [await asyncio.open_connection("127.0.0.1", house.served.port) for _ in range(5)]
    for _, writer in opened:
        writer.write(request)
    await eventually(lambda: len(asyncio.all_tasks() - before) >= 5)
    for _, writer in opened:
        writer.transport.abort()
    await eventually(lambda: len(asyncio.all_tasks() - before) <= 2)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_one_caller_does_not_take_all_streams(house, monkeypatch):
    monkeypatch.setattr(resource_handlers, "STREAMS_OF_CALLER_MAX", 1)
    other = await house.token_for("ben", "READ")
    async with agent(house) as mine, agent(house, token=other) as his, mine.listen(tools_list_changed=True):
        with pytest.raises(MCPError, match="Too many streams"):
            async with mine.listen(tools_list_changed=True):
                pass
        async with his.listen(tools_list_changed=True):
            pass
    async with agent(house) as mine, mine.listen(tools_list_changed=True):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("era", ["newest", "legacy"])
async def test_an_abandoned_connection_leaves_neither_task_nor_wait(house, bench, era):
    async with agent(house) as client:
        run = content_of(
            await client.call_tool("run_pack", {"pack": "test.slow", "input": {"text": "x"}, "wait_seconds": 0})
        )
    await bench.started.wait()
    waits, flag = house.services.engine.bus._flags, (Topic.RUN_ENDED, run["run_id"])
    headers, body = wire(era, "tools/call", name="wait_run", arguments={"run_id": run["run_id"], "wait_seconds": 50})
    request = (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        + b"".join(f"{name}: {value}\r\n".encode() for name, value in headers.items())
        + f"content-length: {len(body)}\r\n\r\n".encode()
        + body
    )
    before = len(asyncio.all_tasks())
    for _ in range(10):
        opened = [await asyncio.open_connection("127.0.0.1", house.served.port) for _ in range(ABANDONED // 10)]
        for _, writer in opened:
            writer.write(request)
        await eventually(lambda: len(waits.get(flag, ())) == ABANDONED // 10)
        for _, writer in opened:
            writer.transport.abort()
        await eventually(lambda: flag not in waits)
    await eventually(lambda: len(asyncio.all_tasks()) <= before + 2)
    gc.collect()
    assert sum(isinstance(kept, Session) for kept in gc.get_objects()) <= 2
    async with agent(house) as client:
        assert content_of(await client.call_tool("get_run", {"run_id": run["run_id"]}))["state"] == "RUNNING"
    assert bench.cancelled == 0


#: Bodies that are no message, and what is said of each.
NO_MESSAGES = {
    '{"jsonrpc": "2.0", "id": null, "method": "tools/list"}': "The `id` of a request",
    '{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}': "The `id` of a request",
    '{"jsonrpc": "2.0", "id": 1.5, "method": "tools/list"}': "The `id` of a request",
    '{"jsonrpc": "2.0", "id": true, "method": "tools/list"}': "The `id` of a request",
    '{"jsonrpc": "2.0", "id": 1}': "`method` is missing",
    '{"jsonrpc": "2.0", "id": 1, "method": 5}': "`method` must be a string",
    '{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": [1]}': "`params` must be an object",
    '{"id": 1, "method": "tools/list"}': '"jsonrpc": "2.0"',
    '[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]': "Batches are not supported",
    "5": "one JSON object",
    "null": "one JSON object",
    "{}": '"jsonrpc": "2.0"',
}


@pytest.mark.parametrize("version", [None, "2025-06-18", NEWEST])
async def test_what_is_no_message_is_refused_in_words(house, version):
    headers = {**HEADERS, "mcp-method": "tools/list"} | ({"mcp-protocol-version": version} if version else {})
    long = json.dumps({"jsonrpc": "2.0", "id": None, "method": "tools/list", "params": {"x": "x" * 50_000}})
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for body, word in {**NO_MESSAGES, long: "The `id` of a request"}.items():
            refused = await http.post(house.url("/mcp"), headers=headers, content=body)
            assert refused.status_code == 400, body
            told = refused.json()
            assert (told["error"]["code"], word in told["error"]["message"]) == (-32600, True), (body, told)
            assert told["id"] == (1 if ('"id": 1,' in body and body[0] == "{") or body.endswith('"id": 1}') else None)


async def test_parameters_that_do_not_fit_are_named(house):
    async with httpx2.AsyncClient(timeout=60, verify=False) as http:
        for method, params, word in (
            ("initialize", {}, "protocolVersion"),
            ("tools/call", {}, "name"),
            ("tools/call", {"name": 5}, "name"),
            ("resources/read", {}, "uri"),
            ("tools/list", {"cursor": 5}, "cursor"),
        ):
            headers, body = wire("legacy", method, **params)
            text = (await http.post(house.url("/mcp"), headers=headers, content=body)).text
            error = json.loads(text[text.index("{") :])["error"]
            assert error["code"] == -32602
            assert error["message"].startswith(f"The parameters of {method} are invalid: ")
            assert word in error["message"]
