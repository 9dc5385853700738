"""Writes of one turn of the loop leave together, in order, and none is lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2

from app import joined_writes
from app.joined_writes import JoiningProtocol, JoiningTransport
from tests.support.graphql_client import serve

if TYPE_CHECKING:
    import pytest


class Wire:
    """A connection that notes what is done to it."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def close(self) -> None:
        self.done.append("close")
        self.closed = True

    def abort(self) -> None:
        self.done.append("abort")

    def is_closing(self) -> bool:
        return self.closed

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


def joined() -> tuple[Wire, JoiningTransport]:
    wire = Wire()
    return wire, JoiningTransport(wire, asyncio.get_running_loop().call_soon)  # type: ignore[arg-type]


async def test_what_is_written_at_once_leaves_in_one_piece():
    wire, transport = joined()
    transport.write(b"head ")
    transport.writelines([b"body", b"."])
    assert wire.done == []
    await asyncio.sleep(0)
    assert wire.done == [b"head body."]
    transport.write(b"later")
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert wire.done == [b"head body.", b"later"]


async def test_much_is_not_held():
    wire, transport = joined()
    for _ in range(3):
        transport.write(b"x" * 40_000)
    assert [len(part) for part in wire.done] == [80_000]
    await asyncio.sleep(0)
    assert [len(part) for part in wire.done] == [80_000, 40_000]


async def test_closing_writes_first_and_aborting_does_not():
    wire, transport = joined()
    transport.write(b"bye")
    transport.close()
    assert wire.done == [b"bye", "close"]
    assert transport.is_closing()
    await asyncio.sleep(0)
    assert wire.done == [b"bye", "close"]

    wire, transport = joined()
    transport.write(b"bye")
    transport.abort()
    await asyncio.sleep(0)
    assert wire.done == ["abort"]
    assert transport.get_extra_info("peer") == "the peer"


async def test_what_is_held_is_let_go_with_a_connection_that_has_closed():
    wire, transport = joined()
    transport.write(b"too late")
    wire.closed = True
    await asyncio.sleep(0)
    transport.write(b"and this")
    transport.flush()
    assert wire.done == []


async def test_head_and_body_of_an_answer_leave_together(monkeypatch: pytest.MonkeyPatch):
    left: list[list[bytes]] = []

    class Noting(JoiningTransport):
        def flush(self) -> None:
            if self._held:
                left.append(list(self._held))
            super().flush()

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await send({"type": "http.response.body", "body": b"tide"})

    monkeypatch.setattr(joined_writes, "JoiningTransport", Noting)
    async with serve(answer, http=JoiningProtocol) as served, httpx2.AsyncClient() as client:
        assert (await client.get(served.url("/"))).text == "tide"
    (parts,) = left
    assert len(parts) > 1, "uvicorn writes head and body in one piece by itself: this module can go"
    assert parts[0].startswith(b"HTTP/1.1 200")
    assert parts[-1] == b"tide"
