"""Services on loopback that can be told to fail: everything arrives at one function, behind a list of faults.

async with serving(GitHubDouble()) as service:
    service.faults.add(status(429, retry_after=7), method="POST")
    service.faults.add(cut_off, method="POST", after=True)   # done, but the answer is lost
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from tests.support.loopback_http import LoopbackHttp, Reply, Request, loopback_http
from tests.support.loopback_sites import json_reply

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Fault = Callable[[Request, asyncio.StreamWriter], Awaitable[Reply | None]]


@dataclass
class _Planned:
    fault: Fault
    method: str | None
    path: re.Pattern[str]
    after: bool
    times: int


@dataclass
class Faults:
    """What will go wrong, in order; each entry is used up before the next one that fits."""

    planned: list[_Planned] = field(default_factory=list)

    def add(
        self, fault: Fault, *, method: str | None = None, path: str = "", after: bool = False, times: int = 1
    ) -> None:
        """Plans a fault.

        Args:
            fault: What to answer instead.
            method: Only requests of this kind.
            path: Only requests whose target matches this expression somewhere.
            after: The service does what it was asked, and only then the answer goes wrong.
            times: How many requests it hits.
        """
        self.planned.append(_Planned(fault, method, re.compile(path), after, times))

    def take(self, request: Request) -> _Planned | None:
        """The fault for a request; None to answer properly."""
        for planned in self.planned:
            if planned.times and planned.method in (None, request.method) and planned.path.search(request.path):
                planned.times -= 1
                return planned
        return None


class Service(Protocol):
    """A double: answers requests, knows what is to go wrong, and is told where it listens."""

    faults: Faults
    http: LoopbackHttp

    def answer(self, request: Request) -> Reply:
        """What the real service would say."""


_Service = TypeVar("_Service", bound=Service)


class _Everything(dict[str, "Reply | Fault"]):
    """A routing table in which every path leads to one function."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self._service = service

    def get(self, key: str, default: object = None) -> Fault:  # type: ignore[override]  # never absent
        del key, default
        return self._answer

    async def _answer(self, request: Request, writer: asyncio.StreamWriter) -> Reply | None:
        planned = self._service.faults.take(request)
        if planned is not None and not planned.after:
            return await planned.fault(request, writer)
        reply = self._service.answer(request)
        return reply if planned is None else await planned.fault(request, writer)


@contextlib.asynccontextmanager
async def serving(service: _Service) -> AsyncIterator[_Service]:
    """Runs a double on a port of its own while the block runs."""
    async with loopback_http({}) as http:
        http.routes = _Everything(service)
        service.http = http
        yield service


def status(code: int, body: object = None, *, retry_after: float | None = None, **headers: str) -> Fault:
    """A refusal. Header names are written with underscores."""
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if retry_after is not None:
        given["retry-after"] = f"{retry_after:g}"

    async def fault(request: Request, writer: asyncio.StreamWriter) -> Reply:
        del request, writer
        return json_reply({} if body is None else body, code, given)

    return fault


async def cut_off(request: Request, writer: asyncio.StreamWriter) -> None:
    """The connection ends in the middle of the body."""
    del request
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"number": 1, "ti')
    await writer.drain()


async def reset(request: Request, writer: asyncio.StreamWriter) -> None:
    """The connection ends before a word is said."""
    del request
    writer.transport.abort()


async def wrong_length(request: Request, writer: asyncio.StreamWriter) -> None:
    """The length told is shorter than what is sent."""
    del request
    writer.write(b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"number": 1}')
    await writer.drain()


async def not_json(request: Request, writer: asyncio.StreamWriter) -> Reply:
    """A page in between, such as a login of the network."""
    del request, writer
    return Reply(b"<!doctype html><title>Welcome to the hotel</title>", headers={"content-type": "text/html"})


async def other_json(request: Request, writer: asyncio.StreamWriter) -> Reply:
    """JSON, but of another kind."""
    del request, writer
    return json_reply({"status": "ok", "items": 7})


async def silence(request: Request, writer: asyncio.StreamWriter) -> None:
    """Nothing, for ever."""
    del request, writer
    await asyncio.Event().wait()
