"""Writes of one turn of the loop leave together, in order, and none is lost; heads are what uvicorn makes of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from app import joined_writes
from app.joined_writes import JoiningProtocol, JoiningTransport, RememberingCycle
from tests.support.graphql_client import serve

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    async with serve(answer, http=JoiningProtocol) as served, httpx2.AsyncClient(timeout=60) as client:
        assert (await client.get(served.url("/"))).text == "tide"
    (parts,) = left
    assert len(parts) > 1, "uvicorn writes head and body in one piece by itself: this module can go"
    assert parts[0].startswith(b"HTTP/1.1 200")
    assert parts[-1] == b"tide"


HEADS: dict[str, tuple[int, Iterable[Any]]] = {
    "plain": (200, [(b"content-length", b"4"), (b"Vary", b"accept"), (b"x-twice", b"1"), (b"x-twice", b"2")]),
    "other": (201, [(b"content-length", b"4"), (b"vary", b"accept")]),
    "listed": (200, [[b"content-length", b"4"], [b"a", b"b"]]),
    "chunked": (200, [(b"vary", b"accept")]),
    "chunked-told": (200, [(b"transfer-encoding", b"chunked")]),
    "closing": (200, [(b"content-length", b"4"), (b"connection", b"close")]),
    "empty": (204, []),
    "bad-name": (200, [(b"content-length", b"4"), (b"a b", b"c")]),
    "bad-value": (200, [(b"content-length", b"4"), (b"a", b"b\r\nset-cookie: c")]),
    "too-long": (200, [(b"content-length", b"3")]),
    "no-length": (200, [(b"content-length", b"four")]),
    "two-lengths": (200, [(b"content-length", b"4"), (b"content-length", b"4")]),
    "empty-length": (200, [(b"content-length", b"")]),
    "cookie": (200, [(b"content-length", b"4"), (b"Set-Cookie", b"session=secret")]),
}


async def _of_kind(scope: Any, receive: Any, send: Any) -> None:
    kind = scope["path"][1:]
    status, headers = HEADS[kind]
    await send({"type": "http.response.start", "status": status, "headers": iter(list(headers))})
    await send({"type": "http.response.body", "body": b"" if status == 204 else b"tide"})


async def _answered(url: str) -> list[object]:
    """What comes back, without the time: on a connection that stays, then on some that are closed."""
    told: list[object] = []
    closing = {"connection": "close"}
    asked = [("GET", {}), ("GET", {}), ("HEAD", {}), ("GET", {}), ("GET", closing), ("GET", closing), ("GET", {})]
    async with httpx2.AsyncClient(timeout=60) as client:
        for method, headers in asked:
            try:
                answer = await client.request(method, url, headers=headers)
            except httpx2.HTTPError as error:
                told.append(type(error))
                continue
            told.append(
                (answer.status_code, [pair for pair in answer.headers.raw if pair[0] != b"date"], answer.content)
            )
    return told


@pytest.mark.parametrize("kind", HEADS)
async def test_heads_are_written_as_uvicorn_does(kind: str):
    joined_writes._heads.clear()
    told = []
    for protocol in (HttpToolsProtocol, JoiningProtocol):
        async with serve(_of_kind, http=protocol) as served:
            told.append(await _answered(served.url(f"/{kind}")))
    assert told[0] == told[1]
    usual = kind in {"plain", "other", "listed", "too-long"}
    assert len(joined_writes._heads) == int(usual), "only what uvicorn let pass is remembered"


async def test_heads_that_differ_in_the_length_of_the_body_are_one():
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        body = b"x" * int(scope["path"][1:])
        headers = [(b"a", b"b"), (b"content-length", b"%d" % len(body)), (b"c", b"d")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    joined_writes._heads.clear()
    async with serve(answer, http=JoiningProtocol) as served, httpx2.AsyncClient(timeout=60) as client:
        for length in (3, 0, 70_000, 12):
            assert (await client.get(served.url(f"/{length}"))).text == "x" * length
    assert len(joined_writes._heads) == 1


async def test_few_heads_are_remembered(monkeypatch: pytest.MonkeyPatch):
    async def answer(scope: Any, receive: Any, send: Any) -> None:
        name = scope["path"].encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0"), (b"p", name)]})
        await send({"type": "http.response.body"})

    monkeypatch.setattr(joined_writes, "_HEADS_MAX", 3)
    joined_writes._heads.clear()
    async with serve(answer, http=JoiningProtocol) as served, httpx2.AsyncClient(timeout=60) as client:
        for _ in range(2):
            for number in range(5):
                assert (await client.get(served.url(f"/{number}"))).headers["p"] == f"/{number}"
                assert len(joined_writes._heads) <= 3


def test_the_cycle_that_remembers_is_uvicorns_with_no_attribute_more():
    assert "__init__" not in vars(RememberingCycle), "it takes the place of one that uvicorn made"
