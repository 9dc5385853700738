"""The rows of `/mcp`: what a call costs the server, and what a conversation costs an agent's context."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Self

import httpx2

from tests.bench.figures import Figure
from tests.bench.server import TOKEN, pipeline_of, serving, start_run

if TYPE_CHECKING:
    from pathlib import Path

    from tests.bench.figures import Counts
    from tests.bench.server import Server

_NEWEST = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
#: Bytes of JSON to a token, about.
_BYTES_PER_TOKEN = 4
#: Connections broken off at once, in the middle of a wait.
_WAVE = 50


class Agent:
    """The newest wire by hand: an SDK client would cost more than the server.

    Attributes:
        said: Bytes of every call's arguments and answer, as an agent's context holds them.
    """

    def __init__(self, server: Server) -> None:
        self._url = f"http://127.0.0.1:{server.port}/mcp"
        self._http = httpx2.AsyncClient(timeout=120, trust_env=False, limits=httpx2.Limits(max_connections=16))
        self.said = 0

    async def ask(self, method: str, **params: Any) -> Any:
        """The result of a request."""
        headers = {
            "authorization": f"Bearer {TOKEN}",
            "accept": "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-protocol-version": _NEWEST,
            "mcp-method": method,
        }
        if "name" in params:
            headers["mcp-name"] = params["name"]
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": _META}}
        answer = (await self._http.post(self._url, headers=headers, json=body)).json()
        if "error" in answer:
            raise RuntimeError(str(answer["error"])[:500])
        return answer["result"]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers."""
        result = await self.ask("tools/call", name=tool, arguments=arguments)
        text = result["content"][0]["text"]
        if result.get("isError"):
            raise RuntimeError(text[:500])
        self.said += len(json.dumps(arguments)) + len(text)
        return json.loads(text)

    async def many(self, tool: str, count: int, **arguments: Any) -> None:
        """Calls a tool so many times, 8 at once."""
        gate = asyncio.Semaphore(8)

        async def one() -> None:
            async with gate:
                await self.call(tool, **arguments)

        await asyncio.gather(*(one() for _ in range(count)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()


async def mcp(folder: Path, counts: Counts) -> list[Figure]:
    """CPU of calls on the newest wire, size of the list of tools, and a whole conversation."""
    figures = []
    async with serving(folder / "data") as (server, client), Agent(server) as agent:
        three = await pipeline_of(client, "three", 3)
        run = (await start_run(client, three, "first", wait=20))["id"]
        for number in range(counts.of(20)):
            await start_run(client, three, f"run {number}", wait=20)
        for name, arguments in (
            ("get_run", {"run_id": run}),
            ("list_runs", {}),
            ("get_pipeline", {"pipeline": three}),
        ):
            cpu = await _cpu_of_call(server, agent, name, counts.of(50), counts.of(600), **arguments)
            figures.append(Figure("mcp", f"{name}, CPU of a call", cpu * 1000, "ms", 3.0))
        tools = (await agent.ask("tools/list"))["tools"]
        size = len(json.dumps(tools, separators=(",", ":")).encode())
        asked = {"text": "turn a pdf report into a short summary"}
        searched = await _cpu_of_call(server, agent, "search_catalog", counts.of(10), counts.of(60), **asked)
        figures += [
            Figure("mcp", f"tools/list, {len(tools)} tools", size, "bytes", 20_000),
            Figure("mcp", "tools/list, about", size / _BYTES_PER_TOKEN, "tokens", 5_000),
            Figure("mcp", "search_catalog, CPU of a call", searched * 1000, "ms", 5.0),
        ]
        figures += await _abandoned(server, agent, counts)
        agent.said = 0
        await agent.call("search_catalog", text="three")
        await agent.call("get_pipeline", pipeline=three)
        started = await agent.call("run_pipeline", pipeline=three, inputs={"text": "talk"}, wait_seconds=0)
        await agent.call("wait_run", run_id=started["run_id"], wait_seconds=45)
        await agent.call("get_run", run_id=started["run_id"])
        figures.append(Figure("mcp", "find, look, run, wait, read", agent.said / _BYTES_PER_TOKEN, "tokens"))
    return figures


async def _cpu_of_call(server: Server, agent: Agent, tool: str, warm: int, count: int, **arguments: Any) -> float:
    """CPU seconds of the server for each of so many calls."""
    await agent.many(tool, warm, **arguments)
    before = server.cpu_seconds()
    await agent.many(tool, count, **arguments)
    return server.cpu_seconds_since(before) / count


async def _abandoned(server: Server, agent: Agent, counts: Counts) -> list[Figure]:
    """Memory that stays when connections break off in the middle of a wait, in waves; the first ones warm up."""
    slow = {"pack": "bench.steady", "input": {"seconds": 600}, "wait_seconds": 0}
    run = (await agent.call("run_pack", **slow))["run_id"]
    figures, waves = [], counts.of(20, 1)
    for era, request in (("2026", _wait(run, newest=True)), ("2025", _wait(run, newest=False))):
        await _broken_off(server, request, counts.of(4, 1))
        before = server.resident_bytes()
        await _broken_off(server, request, waves)
        grown = (server.resident_bytes() - before) / (1 << 20)
        figures.append(Figure("mcp", f"memory left by {waves * _WAVE:,} abandoned waits of {era}", grown, "MiB", 5.0))
    await agent.call("cancel_run", run_id=run)
    return figures


def _wait(run: str, *, newest: bool) -> bytes:
    params: dict[str, object] = {"name": "wait_run", "arguments": {"run_id": run, "wait_seconds": 50}}
    fields = {"authorization": f"Bearer {TOKEN}", "accept": "application/json, text/event-stream"}
    if newest:
        params["_meta"] = _META
        fields |= {"mcp-protocol-version": _NEWEST, "mcp-method": "tools/call", "mcp-name": "wait_run"}
    else:
        fields["mcp-protocol-version"] = "2025-06-18"
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()
    fields |= {"host": "127.0.0.1", "content-type": "application/json", "content-length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


async def _broken_off(server: Server, request: bytes, waves: int) -> None:
    for _ in range(waves):
        opened = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(_WAVE)]
        for _, writer in opened:
            writer.write(request)
            await writer.drain()
        await asyncio.sleep(0.3)  # until they wait
        for _, writer in opened:
            writer.transport.abort()
    await asyncio.sleep(1)
