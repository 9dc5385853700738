"""Speaks GraphQL to a real server the way strangers do: HTTP, `graphql-transport-ws` and `graphql-sse`.

async with serve(app) as server:
    answer = await GraphQLClient(server.url("/graphql"), token="t").execute("{hello}")
    async with GraphQLSocket.open(server.ws_url("/graphql"), token="t") as socket:
        async for payload in socket.subscribe("subscription {…}"):
            …
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import socket as sockets
import threading
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx2
import uvicorn
import websockets
from websockets.asyncio.client import ClientConnection, connect

from app.http.uvicorn_protocols import HttpProtocol, SocketProtocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

GRAPHQL_RESPONSE = "application/graphql-response+json"
PROTOCOL = "graphql-transport-ws"
#: Long enough for a loaded machine; a test that waits so long has failed.
PATIENCE_SECONDS = 60.0


# -- servers -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """An application behind a real server on loopback."""

    port: int
    server: uvicorn.Server

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def ws_url(self, path: str = "/") -> str:
        return f"ws://127.0.0.1:{self.port}{path}"


class _Server(uvicorn.Server):
    """A server that leaves the test runner's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def main_loop(self) -> None:
        while not await self.on_tick(0):  # noqa: ASYNC110 - uvicorn offers no event
            await asyncio.sleep(0.01)


def _prepare(app: Any, options: dict[str, Any]) -> tuple[_Server, sockets.socket]:
    # asyncio turns Nagle's algorithm off only where the protocol is named; with it, each answer is 40 ms late.
    listener = sockets.socket(proto=sockets.IPPROTO_TCP)
    listener.setsockopt(sockets.SOL_SOCKET, sockets.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.pop("port", 0)))
    defaults: dict[str, Any] = {  # as `app.server.run_app` has it, where it matters
        "http": HttpProtocol,
        "ws": SocketProtocol,
        "ws_per_message_deflate": False,
        "log_config": None,
        "access_log": False,
        "ws_max_size": 262_144,
        "timeout_graceful_shutdown": 2,
        "lifespan": "auto",
    }
    return _Server(uvicorn.Config(app, **{**defaults, **options})), listener


@asynccontextmanager
async def serve(app: Any, **options: Any) -> AsyncIterator[Served]:
    """Run an ASGI application in this event loop, on a port of its own or `port`; options go to `uvicorn.Config`."""
    server, listener = _prepare(app, options)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not server.started:
                if task.done():
                    task.result()
                    raise RuntimeError("the server stopped before it had started")
                await asyncio.sleep(0.005)
        yield Served(listener.getsockname()[1], server)
    finally:
        server.should_exit = True
        async with asyncio.timeout(PATIENCE_SECONDS):
            await task
        listener.close()


@contextmanager
def serve_in_thread(app: Any, **options: Any) -> Iterator[Served]:
    """Run an ASGI application in a thread with an event loop of its own, for synchronous tests and browsers."""
    server, listener = _prepare(app, options)
    ready = threading.Event()

    async def main() -> None:
        task = asyncio.create_task(server.serve(sockets=[listener]))
        while not server.started and not task.done():  # noqa: ASYNC110 - uvicorn offers no event
            await asyncio.sleep(0.005)
        ready.set()
        await task

    thread = threading.Thread(target=lambda: asyncio.run(main()), name="served application", daemon=True)
    thread.start()
    try:
        if not ready.wait(PATIENCE_SECONDS) or not server.started:
            raise RuntimeError("the server did not start")
        yield Served(listener.getsockname()[1], server)
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        listener.close()


# -- HTTP --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """One GraphQL answer over HTTP."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        """The data; fails the test when there are errors."""
        assert "errors" not in self.body, self.body["errors"]
        assert isinstance(self.body.get("data"), dict), self.body
        return self.body["data"]

    @property
    def errors(self) -> list[dict[str, Any]]:
        return self.body.get("errors", [])

    @property
    def extensions(self) -> dict[str, Any]:
        return self.body.get("extensions", {})

    @property
    def codes(self) -> list[str]:
        return [error.get("extensions", {}).get("code", "") for error in self.errors]


@dataclass
class GraphQLClient:
    """Executes operations over HTTP; usable as a context manager to keep connections."""

    url: str
    token: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = PATIENCE_SECONDS

    def __post_init__(self) -> None:
        # Nothing here speaks TLS, and reading the certificates of the system takes 50 ms a client.
        self.http = httpx2.AsyncClient(timeout=self.timeout_seconds, trust_env=False, verify=False)

    async def __aenter__(self) -> GraphQLClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    def _headers(self, accept: str) -> dict[str, str]:
        authorization = {"authorization": f"Bearer {self.token}"} if self.token else {}
        return {"accept": accept, **authorization, **self.headers}

    async def execute(
        self,
        query: str,
        variables: Mapping[str, Any] | None = None,
        *,
        operation_name: str | None = None,
        accept: str = GRAPHQL_RESPONSE,
    ) -> Answer:
        """POST one operation."""
        body = {"query": query, "variables": variables, "operationName": operation_name}
        return await self.post(json.dumps(body).encode(), accept=accept)

    async def post(self, body: bytes, *, accept: str = GRAPHQL_RESPONSE, **headers: str) -> Answer:
        """POST raw bytes; header names are given with underscores."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = {"content-type": "application/json", **self._headers(accept), **named}
        return _answer(await self.http.post(self.url, content=body, headers=sent))

    async def get(self, accept: str = GRAPHQL_RESPONSE, **params: str) -> Answer:
        """GET with the given query parameters."""
        return _answer(await self.http.get(self.url, params=params, headers=self._headers(accept)))

    async def stream(
        self, query: str, variables: Mapping[str, Any] | None = None
    ) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
        """Give the (event, data) pairs of a server-sent answer, until it ends."""
        body = {"query": query, "variables": variables}
        async with self.http.stream(
            "POST", self.url, json=body, headers=self._headers("text/event-stream")
        ) as response:
            if response.status_code != 200:
                await response.aread()
                raise AssertionError(f"{response.status_code}: {response.text}")
            async for event in _events(response.aiter_lines()):
                yield event


def _answer(response: httpx2.Response) -> Answer:
    return Answer(response.status_code, response.headers, response.json() if response.content else {})


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, dict[str, Any] | None]]:
    """Parse server-sent events as the HTML standard says; comments come as ("comment", None)."""
    name, data = "message", ""
    async for line in lines:
        if line.startswith(":"):
            yield "comment", None
        elif line.startswith("event:"):
            name = line.removeprefix("event:").strip()
        elif line.startswith("data:"):
            data += line.removeprefix("data:").strip()
        elif not line and name != "message":
            yield name, json.loads(data) if data else None
            name, data = "message", ""


# -- websockets --------------------------------------------------------------------------------------------


class OperationFailed(AssertionError):
    """The server answered an operation with an `error` message."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(json.dumps(errors))
        self.errors = errors


class GraphQLSocket:
    """One `graphql-transport-ws` connection. One operation at a time may be read through it."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self._ids = itertools.count(1)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        url: str,
        *,
        token: str | None = None,
        payload: Mapping[str, Any] | None = None,
        init: bool = True,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> AsyncIterator[GraphQLSocket]:
        """Connect; signs in with the token (or the given payload) unless `init` is false."""
        settings: dict[str, Any] = {"subprotocols": [PROTOCOL], "proxy": None, "max_size": None, **options}
        async with connect(url, additional_headers=dict(headers or {}), **settings) as connection:
            socket = cls(connection)
            if init:
                if payload is None and token is not None:
                    payload = {"Authorization": f"Bearer {token}"}
                await socket.send({"type": "connection_init", "payload": payload})
                message = await socket.receive()
                assert message["type"] == "connection_ack", message
            yield socket

    async def send(self, message: object) -> None:
        """Send one frame as JSON."""
        await self.connection.send(json.dumps(message))

    async def send_raw(self, frame: str | bytes) -> None:
        """Send one frame as it is."""
        await self.connection.send(frame)

    async def receive(self) -> dict[str, Any]:
        """Return the next frame."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            frame = await self.connection.recv()
        assert isinstance(frame, str), "a binary frame, which graphql-ws clients refuse"
        message = json.loads(frame)
        assert isinstance(message, dict)
        return message

    async def close_code(self) -> int | None:
        """Wait until the server closes, and return with which code."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    await self.connection.recv()
        except websockets.ConnectionClosed:
            return self.connection.close_code

    async def start(
        self, query: str, variables: Mapping[str, Any] | None = None, operation_name: str | None = None
    ) -> str:
        """Send `subscribe` and return the operation's id; read its messages with `receive`."""
        operation_id = str(next(self._ids))
        payload = {"query": query, "variables": variables, "operationName": operation_name}
        await self.send({"id": operation_id, "type": "subscribe", "payload": payload})
        return operation_id

    async def complete(self, operation_id: str) -> None:
        """Stop an operation."""
        await self.send({"id": operation_id, "type": "complete"})

    async def subscribe(
        self, query: str, variables: Mapping[str, Any] | None = None, operation_name: str | None = None
    ) -> AsyncIterator[dict[str, Any]]:
        """Give the `next` payloads of an operation until it completes; messages of others are dropped."""
        operation_id = await self.start(query, variables, operation_name)
        while True:
            message = await self.receive()
            if message.get("id") != operation_id:
                continue
            match message["type"]:
                case "next":
                    yield message["payload"]
                case "error":
                    raise OperationFailed(message["payload"])
                case "complete":
                    return

    async def execute(self, query: str, variables: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the one payload of a query or command."""
        payloads = [payload async for payload in self.subscribe(query, variables)]
        assert len(payloads) == 1, payloads
        return payloads[0]
