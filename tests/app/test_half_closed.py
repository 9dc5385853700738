"""Whoever ends its sending side with the request is answered, and whoever goes away is noticed all the same."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import uvloop

from app.joined_writes import JoiningProtocol
from tests.support.graphql_client import serve
from tests.support.product import ADMIN_TOKEN, product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine
    from pathlib import Path

    from starlette.types import Receive, Scope, Send

PATIENCE_SECONDS = 20


Run: TypeAlias = "Callable[[Coroutine[Any, Any, None]], None]"


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """Runs the steps of a test on the loop of the server and on that of the other tests."""
    loop: Run = request.param
    return loop


class Waiting:
    """An application that answers when it is told to, and notes whose client went away before."""

    def __init__(self) -> None:
        self.begun, self.release, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        is_stream = scope["path"] == "/stream"
        if is_stream:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"first ", "more_body": True})
        self.begun.set()
        leaving, released = asyncio.create_task(_left(receive)), asyncio.create_task(self.release.wait())
        await asyncio.wait((leaving, released), return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            released.cancel()
            self.gone.set()
            return
        leaving.cancel()
        if not is_stream:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"last"})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


@asynccontextmanager
async def waiting() -> AsyncIterator[tuple[Waiting, Any]]:
    app = Waiting()
    async with serve(app, http=JoiningProtocol) as served:
        yield app, served


async def asked(port: int, path: str = "/", version: str = "1.1", body: str = "") -> Any:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    length = f"Content-Length: {len(body)}\r\n" if body else ""
    writer.write(f"POST {path} HTTP/{version}\r\nHost: 127.0.0.1\r\n{length}\r\n{body}".encode())
    return reader, writer


def test_a_client_that_sends_no_more_is_answered_and_the_connection_closed(run: Run) -> None:
    async def steps() -> None:
        async with waiting() as (app, served):
            app.release.set()
            reader, writer = await asked(served.port, body="x" * 100_000)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await reader.read()
            assert answer.startswith(b"HTTP/1.1 200 OK")
            assert b"last" in answer
            assert not app.gone.is_set()
            writer.close()

    run(steps())


def test_one_that_waits_long_is_answered_in_the_end(run: Run) -> None:
    async def steps() -> None:
        async with waiting() as (app, served):
            reader, writer = await asked(served.port)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_SECONDS):
                answer = await reader.readuntil(b"HTTP/1.1 100 Continue\r\n\r\n")
                app.release.set()
                answer += await reader.read()
            assert not app.gone.is_set()
            assert answer.startswith(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n")
            assert answer.endswith(b"connection: close\r\n\r\nlast")
            writer.close()

    run(steps())


@pytest.mark.parametrize("path", ["/", "/stream"])
@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("half", [True, False])
def test_one_that_goes_away_is_noticed(run: Run, path: str, version: str, half: bool) -> None:
    async def steps() -> None:
        async with waiting() as (app, served):
            _reader, writer = await asked(served.port, path, version)
            if half:
                writer.write_eof()
            async with asyncio.timeout(PATIENCE_SECONDS):
                await app.begun.wait()
                writer.close()
                await app.gone.wait()

    run(steps())


def test_a_connection_without_a_whole_request_is_closed_at_once(run: Run) -> None:
    async def steps() -> None:
        async with waiting() as (_app, served):
            for sent in (b"", b"GET / HT", b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"):
                reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
                writer.write(sent)
                writer.write_eof()
                async with asyncio.timeout(PATIENCE_SECONDS):
                    assert await reader.read() == b""
                writer.close()

    run(steps())


def test_requests_sent_together_are_all_answered(run: Run) -> None:
    async def steps() -> None:
        async with waiting() as (app, served):
            app.release.set()
            reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 3)
            writer.write_eof()
            async with asyncio.timeout(PATIENCE_SECONDS):
                assert (await reader.read()).count(b"HTTP/1.1 200 OK") == 3
            writer.close()

    run(steps())


async def test_a_query_is_answered_whose_sender_sends_no_more(tmp_path: Path) -> None:
    body = '{"query": "{ viewer { name } }"}'
    async with product(tmp_path) as it:
        reader, writer = await asyncio.open_connection("127.0.0.1", it.served.port)
        head = f"Authorization: Bearer {ADMIN_TOKEN}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        writer.write(f"POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\n{head}\r\n\r\n{body}".encode())
        writer.write_eof()
        async with asyncio.timeout(PATIENCE_SECONDS):
            answer = await reader.read()
        assert b'"viewer"' in answer
        writer.close()
