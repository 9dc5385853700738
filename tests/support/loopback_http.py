"""An HTTP server on 127.0.0.1 that answers from a table and remembers what it was asked."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping


@dataclass(frozen=True)
class Request:
    """What arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    """What to answer. `content-length` is added; header names in lower case."""

    body: bytes = b"ok"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


class LoopbackHttp:
    """The running server.

    Attributes:
        port: Where it listens on 127.0.0.1.
        requests: Everything it was asked, in order.
        connections: How many were opened.
    """

    def __init__(self, routes: Mapping[str, Reply | Route]) -> None:
        self.routes = dict(routes)
        self.port = 0
        self.requests: list[Request] = []
        self.connections = 0

    def url(self, path: str = "/", host: str = "127.0.0.1") -> str:
        """Address of a path, without a query."""
        return f"http://{host}:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                await self._answer(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ", 2)
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        request = Request(method, target, headers, body)
        self.requests.append(request)
        reply = self.routes.get(target.partition("?")[0], Reply(b"no such path", 404))
        if not isinstance(reply, Reply):
            answer = await reply(request, writer)
            if answer is None:
                raise ConnectionAbortedError
            reply = answer
        lines = [f"HTTP/1.1 {reply.status} Reply"]
        lines += [f"{k}: {v}" for k, v in {"content-length": str(len(reply.body)), **reply.headers}.items()]
        writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        if method != "HEAD":
            writer.write(reply.body)
        await writer.drain()


if TYPE_CHECKING:
    Route = Callable[[Request, asyncio.StreamWriter], Awaitable[Reply | None]]


@contextlib.asynccontextmanager
async def loopback_http(
    routes: Mapping[str, Reply | Route], *, tls: ssl.SSLContext | None = None
) -> AsyncIterator[LoopbackHttp]:
    """Serves while the block runs.

    A route is a `Reply`, or a function of the request and the stream that returns one, or that writes for itself and
    returns None, whereupon the connection is closed.
    """
    tasks: set[asyncio.Task[None]] = set()
    served = LoopbackHttp(routes)

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        await served._serve(reader, writer)

    server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=tls, ssl_shutdown_timeout=0.1 if tls else None)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def gzipped(body: bytes) -> Reply:
    """The body, compressed."""
    return Reply(gzip.compress(body), headers={"content-encoding": "gzip"})


async def slow_drip(request: Request, writer: asyncio.StreamWriter) -> None:
    """Sends a byte now and then, for ever: read time-outs never fire."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.02)
