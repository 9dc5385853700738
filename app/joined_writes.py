"""HTTP connections that write what is written at once in one piece, and heads of answers as they were written before.

uvicorn writes the head of an answer and its body one after the other, each by a call of the system that wakes the other
side: 30 to 50 µs of a request of 250. Here both wait for the end of the turn of the event loop, and leave together.

It also looks at each header of each answer for what must not stand there, and puts the head together anew: 19 µs for
our dozen, which are the same in one answer after the other but for the length.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, cast

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from app.request_targets import RequestTargetProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from uvicorn._types import ASGI3Application, ASGISendEvent

#: What is held at most; more is written at once, so that whoever writes much notices when the other side is slow.
_HELD_BYTES: Final = 65_536


_Headers: TypeAlias = tuple[tuple[bytes, bytes], ...]


class _Head(NamedTuple):
    """The head of an answer, but for what the server adds to all of them.

    Attributes:
        status: Its first line.
        before: The application's headers up to the length of the body.
        after: Those that follow the length, up to the body.
    """

    status: bytes
    before: bytes
    after: bytes


_LENGTH: Final = b"content-length"
#: Another for each caller, and a secret, which is not kept longer than it takes to send.
_COOKIE: Final = b"set-cookie"
#: Heads that were written, by status and headers, the length of the body left empty.
_heads: dict[tuple[int, _Headers], _Head] = {}
_HEADS_MAX: Final = 1024


class JoiningTransport:
    """A transport whose writes within one turn of the loop become one; all else is the transport's own.

    Args:
        transport: The connection's.
        call_soon: Of the loop.
    """

    __slots__ = ("_call_soon", "_held", "_size", "_transport")

    def __init__(self, transport: asyncio.Transport, call_soon: Callable[..., object]) -> None:
        self._transport = transport
        self._call_soon = call_soon
        self._held: list[bytes] = []
        self._size = 0

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever transports have
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Has it written by the end of this turn of the loop."""
        if not self._held:
            self._call_soon(self.flush)
        self._held.append(bytes(data))
        self._size += len(data)
        if self._size > _HELD_BYTES:
            self.flush()

    def writelines(self, parts: list[bytes]) -> None:
        """As `write`, of several parts."""
        self.write(b"".join(parts))

    def flush(self) -> None:
        """Writes what is held; nothing when that was done before, or the other side has gone."""
        if self._held:
            held, self._held, self._size = self._held, [], 0
            if self._transport.is_closing():  # uvloop raises, and each client that hangs up would fill the log
                return
            self._transport.write(held[0] if len(held) == 1 else b"".join(held))

    def is_closing(self) -> bool:
        """Whether the connection is closed, or being closed."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Closes it, once what is held is written."""
        self.flush()
        self._transport.close()

    def abort(self) -> None:
        """Closes it at once."""
        self._held, self._size = [], 0
        self._transport.abort()


class RememberingCycle(RequestResponseCycle):
    """A request and its answer, whose head is written at once when one with the same headers was written before.

    Only heads that uvicorn let pass are remembered, of answers whose length is told and whose connection stays open.
    The length itself is left out.
    """

    async def send(self, message: ASGISendEvent) -> None:
        """Takes a part of the answer; see the ASGI specification."""
        if message["type"] != "http.response.start" or not self._is_usual():
            await super().send(message)
            return
        headers: _Headers = tuple((name, value) for name, value in message.get("headers", ()))
        lengths = [value for name, value in headers if name == _LENGTH]
        told = len(lengths) == 1 and lengths[0].isdigit()
        key = (message["status"], tuple((name, b"" if name == _LENGTH else value) for name, value in headers))
        known = _heads.get(key) if told else None
        if known is None:
            await super().send({**message, "headers": headers})
            if told:
                self._remember(*key)
            return
        self.response_started = True
        self.waiting_for_100_continue = False
        self.chunked_encoding = False
        self.expected_content_length = int(lengths[0])
        content = [known.status]
        for name, value in self.default_headers:
            content += (name, b": ", value, b"\r\n")
        content += (known.before, lengths[0], known.after)
        self.transport.write(b"".join(content))

    def _is_usual(self) -> bool:
        """Whether the answer begins, and nothing but its headers tells how its head is written."""
        started, going = self.response_started, not (self.flow.write_paused or self.disconnected)
        return not started and going and self.keep_alive and not self.access_log

    def _remember(self, status: int, headers: _Headers) -> None:
        if not (self.response_started and self.keep_alive and self.chunked_encoding is False):
            return
        if any(name.lower() == _COOKIE for name, _ in headers):
            return
        if len(_heads) >= _HEADS_MAX:
            _heads.clear()
        lines = [b"%b: %b" % (name.lower(), value) for name, value in headers]
        length = lines.index(b"%b: " % _LENGTH)
        before, after = lines[: length + 1], lines[length + 1 :]
        _heads[status, headers] = _Head(
            STATUS_LINE[status], b"\r\n".join(before), b"\r\n".join((b"", *after, b"", b""))
        )


class JoiningProtocol(RequestTargetProtocol):
    """uvicorn's protocol on such a transport; sockets that it hands on to go on with it."""

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        # uvicorn makes its own kind, and has no setting for another; ours adds no attribute.
        cycle.__class__ = RememberingCycle
        super()._start_asgi_task(cycle, app)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Takes up a connection."""
        joining = JoiningTransport(transport, asyncio.get_running_loop().call_soon)
        super().connection_made(cast("asyncio.Transport", joining))
