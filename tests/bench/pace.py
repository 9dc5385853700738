"""How fast this machine is at the moment, beside the one the goals of `make bench` were set on.

The speed of a shared machine halves and doubles within a day, and every figure of CPU with it. So a server that has
nothing of ours in it, strawberry as it comes, answers small queries before and after each row: the CPU time it needs
says how much longer everything takes here and now.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Self

import httpx2
import psutil
import strawberry
import uvicorn
from strawberry.asgi import GraphQL

from tests.bench.server import ROOT
from tests.support.ports import free_port

if TYPE_CHECKING:
    from types import TracebackType

#: CPU milliseconds of the plain server for one request where the goals were set: 947 requests a second of one core.
_REFERENCE_MS = 1.056


@strawberry.type
class Query:
    """The smallest schema there is."""

    @strawberry.field
    def hello(self) -> str:
        """A constant."""
        return "hi"


class Pace:
    """The plain server in a process of its own, idle but when asked how long it takes.

    Args:
        requests: How many it is timed by.
    """

    def __init__(self, requests: int) -> None:
        self._requests = requests
        self._port = free_port()
        command = [sys.executable, "-m", "tests.bench.pace", str(self._port)]
        self._process = subprocess.Popen(command, cwd=ROOT)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.wait()

    def slowness(self) -> float:
        """How many times longer a request takes here and now than where the goals were set."""
        return asyncio.run(self._cpu_ms()) / _REFERENCE_MS

    async def _cpu_ms(self) -> float:
        url = f"http://127.0.0.1:{self._port}/"
        gate = asyncio.Semaphore(8)
        async with httpx2.AsyncClient(trust_env=False) as http:

            async def ask() -> None:
                async with gate:
                    (await http.post(url, json={"query": "{ hello }"})).raise_for_status()

            await self._reachable(http, url)
            await asyncio.gather(*(ask() for _ in range(self._requests // 4)))
            before = self._cpu_seconds()
            await asyncio.gather(*(ask() for _ in range(self._requests)))
            return (self._cpu_seconds() - before) / self._requests * 1e3

    async def _reachable(self, http: httpx2.AsyncClient, url: str) -> None:
        until = time.monotonic() + 60
        while True:
            try:
                await http.get(url)
            except httpx2.TransportError:
                if self._process.poll() is not None or time.monotonic() > until:
                    raise
                await asyncio.sleep(0.05)
            else:
                return

    def _cpu_seconds(self) -> float:
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)


if __name__ == "__main__":
    uvicorn.run(GraphQL(strawberry.Schema(Query)), port=int(sys.argv[1]), log_level="error", access_log=False)
