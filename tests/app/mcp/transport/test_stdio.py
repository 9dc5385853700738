"""`packline mcp`: the same tools and answers on stdin and stdout, attached to a server or embedded.

Clients of the SDKs start it as a program; where a test writes its lines itself, it is forked from one that has the
imports behind it, an embedded server 2 s of them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.databases import prepare_sqlite
from tests.support.forks import async_fork
from tests.support.mcp_agent import MODES, agent, content_of, stdio_agent, stdio_environment
from tests.support.mcp_clients import RefusedByServer, typescript
from tests.support.packs import Workbench
from tests.support.product import product

if TYPE_CHECKING:
    from tests.support.forks import AsyncFork
    from tests.support.product import Product

PACKLINE = [sys.executable, "-c", "from app.cli import main; main()", "mcp"]


def attached(it: Product, *more: str) -> list[str]:
    return [*PACKLINE, "--server", it.url("").rstrip("/"), *more]


def embedded(folder):
    """The command of a server that is not new: a first start stores every starter."""
    prepare_sqlite(folder / "own", starters=True)
    return [*PACKLINE, "--data-dir", str(folder / "own")]


async def started(command: list[str], env: dict[str, str], *, stdin: int = PIPE, stdout: int = PIPE) -> AsyncFork:
    return await async_fork(command[len(PACKLINE) - 1 :], env, stdin=stdin, stdout=stdout, stderr=PIPE)


@pytest.mark.parametrize("mode", MODES)
async def test_attached_it_offers_and_answers_what_the_server_does(tmp_path, mode):
    bench = Workbench()
    async with product(tmp_path, bench.packs) as it:
        token = await it.token_for("agent", "READ", "RUN")
        env = stdio_environment(tmp_path, PACKLINE_TOKEN=token)
        progress: list[float] = []

        async def tell(fraction: float, _total: float | None, _line: str | None) -> None:
            progress.append(fraction)

        async with agent(it, mode, token=token) as direct, stdio_agent(attached(it), env, mode) as client:
            assert client.instructions == direct.instructions
            assert (await client.list_tools()).tools == (await direct.list_tools()).tools
            run = content_of(await client.call_tool("run_pack", {"pack": "test.echo", "input": {"text": "tea 🫖"}}))
            assert run["output"]["text"] == "tea 🫖"
            assert content_of(await direct.call_tool("get_run", {"run_id": run["run_id"]}))["state"] == "SUCCEEDED"
            arguments = {"pack": "test.slow", "input": {}, "wait_seconds": 6}
            waiting = asyncio.create_task(client.call_tool("run_pack", arguments, progress_callback=tell))
            await bench.started.wait()
            bench.release.set()
            assert content_of(await waiting)["state"] == "SUCCEEDED"


async def test_the_read_only_switch_is_handed_on(tmp_path):
    async with product(tmp_path, Workbench().packs) as it:
        env = stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
        async with stdio_agent(attached(it, "--read-only"), env, "auto") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
        assert "get_run" in names
        assert "run_pipeline" not in names


@pytest.mark.parametrize("sdk", [{"sdk": 1}, {"sdk": 2}, {"sdk": 2, "mode": "auto"}], ids=str)
async def test_a_server_that_restarts_breaks_no_client(tmp_path, sdk):
    packs = Workbench().packs
    async with AsyncExitStack() as clients:
        async with product(tmp_path, packs) as it:
            port = it.served.port
            env = stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
            client = await clients.enter_async_context(typescript(**sdk, command=attached(it), env=env))
            run = await client.call("run_pack", pack="test.echo", input={"text": "before"})
        asked = asyncio.create_task(client.call("get_run", run_id=run["run_id"]))
        async with product(tmp_path, packs, port=port):
            assert (await asked)["output"]["text"] == "before"


async def test_a_wrong_token_is_told_in_words(tmp_path):
    async with product(tmp_path) as it:
        env = stdio_environment(tmp_path, PACKLINE_TOKEN="pkl_wrong")
        with pytest.raises(RefusedByServer, match="The token is invalid"):
            async with typescript(sdk=1, command=attached(it), env=env):
                pass


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.sweep)])
async def test_embedded_it_is_a_server_of_its_own(tmp_path, mode):
    env = stdio_environment(tmp_path)
    command = [*PACKLINE, "--data-dir", str(tmp_path / "own")]
    async with stdio_agent(command, env, mode) as client:
        found = content_of(await client.call_tool("search_catalog", {"text": "sample"}))
        assert "builtin.sample" in {item["id"] for item in found["items"]}
        run = content_of(
            await client.call_tool("run_pipeline", {"pipeline": "sample", "inputs": {}, "wait_seconds": 50})
        )
        assert run["state"] == "FAILED", "it teaches how to resume"
        assert run["next"]["tool"] == "resume_run"
        assert "call the tool resume_run" in run["failure"]["hint"], "agents press no buttons"
        resumed = content_of(await client.call_tool("resume_run", {"run_id": run["run_id"], "wait_seconds": 50}))
        assert resumed["state"] == "SUCCEEDED"
        assert resumed["artifacts"]


async def conversation(command: list[str], env: dict[str, str], *messages: str) -> tuple[list[Any], int | None]:
    """What comes out for some lines and the end of the input, and how the command ends."""
    process = await started(command, env)
    assert process.stdin is not None
    assert process.stdout is not None
    said: list[Any] = []
    for message in messages:
        process.stdin.write(message.encode() + b"\n")
        await process.stdin.drain()
        said.append(json.loads(await asyncio.wait_for(process.stdout.readline(), 60)))
    process.stdin.close()
    rest = await asyncio.wait_for(process.stdout.read(), 60)
    assert rest == b"", "every line on stdout is one of the protocol"
    return said, await process.wait()


async def test_it_ends_with_its_input_and_survives_nonsense(tmp_path):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
    lines = (
        "{nonsense",
        "[1, 2]",
        json.dumps({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello}),
        json.dumps({"jsonrpc": "2.0", "id": "b", "method": "no/such/thing"}),
    )
    async with product(tmp_path) as it:
        said, status = await conversation(attached(it), stdio_environment(tmp_path, PACKLINE_TOKEN=it.token), *lines)
    codes = [message.get("error", {}).get("code") for message in said]
    assert codes == [-32700, -32600, None, -32601]
    assert said[2]["result"]["serverInfo"]["name"] == "packline"
    assert status == 0


#: Lines, the code each is refused with, and its id where that can be read.
NONSENSE: list[tuple[str, int, Any]] = [
    ("{nonsense", -32700, None),
    ("[]", -32600, None),
    ('[{"jsonrpc":"2.0","id":5,"method":"ping"}]', -32600, None),
    ('{"jsonrpc":"2.0","id":3}', -32600, 3),
]
#: The SDK, embedded, takes these for notifications.
ODD_IDS: list[tuple[str, int, Any]] = [
    ('{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    ('{"jsonrpc":"2.0","id":{},"method":"tools/list"}', -32600, None),
    ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
]


@pytest.mark.parametrize("where", ["attached", "embedded"])
async def test_each_line_that_is_no_message_is_refused_and_ends_nothing(tmp_path, where):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "me", "version": "1"}}
    lines = [json.dumps({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": hello})]
    wrong = NONSENSE + (ODD_IDS if where == "attached" else [])
    lines += [line for line, *_ in wrong]
    ignored = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[1]}}\n\n'
    lines.append(f'{ignored}{{"jsonrpc":"2.0","id":"z","method":"ping"}}')
    async with AsyncExitStack() as stack:
        if where == "attached":
            it = await stack.enter_async_context(product(tmp_path))
            said, status = await conversation(
                attached(it), stdio_environment(tmp_path, PACKLINE_TOKEN=it.token), *lines
            )
        else:
            said, status = await conversation(embedded(tmp_path), stdio_environment(tmp_path), *lines)
    assert said[0]["id"] == "a"
    assert said[-1] == {"jsonrpc": "2.0", "id": "z", "result": {}}
    for (line, code, request_id), answer in zip(wrong, said[1:-1], strict=True):
        assert answer["error"]["code"] == code, line
        assert answer["id"] in (request_id, None), line
    assert status == 0


@pytest.mark.parametrize("where", ["attached", "embedded"])
async def test_it_ends_quietly_once_nobody_listens(tmp_path, where):
    async with AsyncExitStack() as stack:
        if where == "attached":
            it = await stack.enter_async_context(product(tmp_path))
            command, env = attached(it), stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
        else:
            command, env = embedded(tmp_path), stdio_environment(tmp_path)
        end, start = os.pipe()
        process = await started(command, env, stdout=start)
        os.close(start)
        os.close(end)
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(ask(("tools/list", {})))
        await process.stdin.drain()
        if where == "embedded":  # a thread of the SDK's waits for the next line
            process.stdin.close()
        err = await asyncio.wait_for(process.stderr.read(), 60)
        assert await process.wait() == 0
    assert b"Traceback" not in err, err.decode()


async def test_two_cannot_embed_the_same_folder(tmp_path):
    async with product(tmp_path) as it:
        command = [*PACKLINE, "--data-dir", str(it.folder)]
        process = await started(command, stdio_environment(tmp_path), stdin=DEVNULL)
        _, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 2
    assert b"another" in err.lower() or b"in use" in err.lower() or b"already" in err.lower(), err


def ask(*calls: tuple[str, dict[str, Any]]) -> bytes:
    """Calls as a script writes them, their ids counted from 0."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "script", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {**params, "_meta": meta}}
        for number, (method, params) in enumerate(calls)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


async def piped(command: list[str], env: dict[str, str], *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What a script is answered that writes its calls and closes the pipe, in the order of its calls."""
    process = await started(command, env)
    out, _ = await asyncio.wait_for(process.communicate(ask(*calls)), 90)
    assert process.returncode == 0
    said = {message["id"]: message for line in out.splitlines() if "id" in (message := json.loads(line))}
    assert sorted(said) == list(range(len(calls))), "each call is answered once"
    return [said[number].get("result", said[number].get("error")) for number in range(len(calls))]


def call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return "tools/call", {"name": tool, "arguments": arguments}


SLOW_FOLDER = Path(__file__).parents[3] / "bench" / "folder"


@pytest.mark.parametrize("where", ["attached", "embedded"])
async def test_what_is_under_way_is_answered_when_the_input_ends(tmp_path, where):
    """A wait of 50 s ends at once, as one whose time is up; everything else is answered as ever."""
    calls = (
        call("run_pack", pack="bench.steady", input={"seconds": 600}, wait_seconds=50),
        call("search_catalog", text="steady"),
        ("tools/list", {}),
    )
    async with AsyncExitStack() as stack:
        if where == "attached":
            it = await stack.enter_async_context(product(tmp_path, pack_path=(SLOW_FOLDER,)))
            command, env = attached(it), stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
            async with agent(it) as client:  # the first request of all has the server import what tools need
                await client.list_tools()
        else:
            command = embedded(tmp_path)
            env = stdio_environment(tmp_path, PACKLINE_PACK_PATH=str(SLOW_FOLDER))
        started, found, listed = await piped(command, env, *calls)
        assert "structuredContent" in started, started
        run = started["structuredContent"]
        assert run["state"] in ("QUEUED", "RUNNING")
        assert run["next"] == {"tool": "wait_run", "arguments": {"run_id": run["run_id"], "wait_seconds": 45}}
        assert "bench.steady" in {item["id"] for item in found["structuredContent"]["items"]}
        assert listed["tools"]
        waits = [
            call("wait_run", run_id=run["run_id"], wait_seconds=50),
            call("wait_run", run_id=run["run_id"], wait_seconds=50, until_change=True),
        ]
        if where == "attached":
            for waited in await piped(command, env, *waits):
                assert waited["structuredContent"]["timed_out"] is True
            surfaces = it.application.surfaces
            assert surfaces is not None
            assert len(surfaces._mcp._endings) == 0


async def test_what_takes_too_long_is_told_so_when_the_input_ends(tmp_path):
    """A query of the caller's own cannot be hurried."""
    wait = 'query { waitRun(id: "%s", waitSeconds: 50) { timedOut } }'
    async with product(tmp_path, pack_path=(SLOW_FOLDER,)) as it:
        command, env = attached(it), stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
        (started,) = await piped(
            command, env, call("run_pack", pack="bench.steady", input={"seconds": 600}, wait_seconds=0)
        )
        (answer,) = await piped(
            command, env, call("graphql_query", query=wait % started["structuredContent"]["run_id"])
        )
    assert "not answered within 10 s" in answer["message"]


async def fed(command: list[str], env: dict[str, str], given: Path) -> tuple[list[Any], bytes]:
    """What comes out when the input is a file, and what is told to people beside it."""
    with given.open("rb") as file:
        process = await started(command, env, stdin=file.fileno())
    out, err = await asyncio.wait_for(process.communicate(), 60)
    assert process.returncode == 0, err.decode()
    return [json.loads(line) for line in out.splitlines()], err


async def test_the_input_may_be_a_file_or_nothing(tmp_path):
    given = tmp_path / "requests.txt"
    given.write_bytes(ask(("tools/list", {}), call("search_catalog", text="sample")))
    async with product(tmp_path) as it:
        env = stdio_environment(tmp_path, PACKLINE_TOKEN=it.token)
        said, told_people = await fed(attached(it), env, given)
        assert sorted(message["id"] for message in said) == [0, 1]
        assert all("result" in message for message in said), said
        assert b"Traceback" not in told_people
        assert await fed(attached(it), env, Path("/dev/null")) == ([], b"")


async def test_without_a_server_a_script_is_told_so_when_its_input_ends(tmp_path, unused_tcp_port):
    given = tmp_path / "requests.txt"
    given.write_bytes(ask(("tools/list", {})))
    command = [*PACKLINE, "--server", f"http://127.0.0.1:{unused_tcp_port}"]
    said, _ = await fed(command, stdio_environment(tmp_path), given)
    assert "No Packline server answers" in said[0]["error"]["message"]
