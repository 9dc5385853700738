"""The rows of `/mcp`: what a call costs the server, and what a conversation costs an agent's context."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import httpx2

from tests.bench.rows import Figure
from tests.bench.server import TOKEN, Client, Server, pipeline_of, start_run

if TYPE_CHECKING:
    from pathlib import Path

_NEWEST = "2026-07-28"
_META = {
    "io.modelcontextprotocol/protocolVersion": _NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
}
#: Bytes of JSON to a token, about.
_BYTES_PER_TOKEN = 4


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

    async def close(self) -> None:
        """Ends its connections."""
        await self._http.aclose()


async def mcp(folder: Path) -> list[Figure]:
    """CPU of calls on the newest wire, size of the list of tools, and a whole conversation."""
    server = Server(folder / "data")
    server.start()
    client, agent = Client(server), Agent(server)
    figures = []
    try:
        three = await pipeline_of(client, "three", 3)
        run = (await start_run(client, three, "first", wait=20))["id"]
        for number in range(20):
            await start_run(client, three, f"run {number}", wait=20)
        for name, arguments in (
            ("get_run", {"run_id": run}),
            ("list_runs", {}),
            ("get_pipeline", {"pipeline": three}),
        ):
            await agent.many(name, 50, **arguments)
            cpu, count = server.cpu_seconds(), 600
            await agent.many(name, count, **arguments)
            cpu = server.cpu_seconds() - cpu
            figures += [
                Figure("mcp", f"{name}, CPU of a call", cpu / count * 1000, "ms", 1.0),
                Figure("mcp", f"{name}, calls on one core", count / cpu, "per s of CPU", 800, True),
            ]
        tools = (await agent.ask("tools/list"))["tools"]
        size = len(json.dumps(tools, separators=(",", ":")).encode())
        figures += [
            Figure("mcp", f"tools/list, {len(tools)} tools", size, "bytes", 20_000),
            Figure("mcp", "tools/list, about", size / _BYTES_PER_TOKEN, "tokens", 5_000),
        ]
        agent.said = 0
        await agent.call("search_catalog", text="three")
        await agent.call("get_pipeline", pipeline=three)
        started = await agent.call("run_pipeline", pipeline=three, inputs={"text": "talk"}, wait_seconds=0)
        await agent.call("wait_run", run_id=started["run_id"], wait_seconds=45)
        await agent.call("get_run", run_id=started["run_id"])
        figures.append(Figure("mcp", "find, look, run, wait, read", agent.said / _BYTES_PER_TOKEN, "tokens"))
    finally:
        await agent.close()
        await client.close()
        server.stop()
    return figures
