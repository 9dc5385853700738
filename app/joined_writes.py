"""HTTP connections that write what is written at once in one piece.

uvicorn writes the head of an answer and its body one after the other, each by a call of the system that wakes the other
side: 30 to 50 µs of a request of 250. Here both wait for the end of the turn of the event loop, and leave together.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from collections.abc import Callable

#: What is held at most; more is written at once, so that whoever writes much notices when the other side is slow.
_HELD_BYTES: Final = 65_536


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


class JoiningProtocol(HttpToolsProtocol):
    """uvicorn's protocol on such a transport; sockets that it hands on to go on with it."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn has it
        """Takes up a connection."""
        joining = JoiningTransport(transport, asyncio.get_running_loop().call_soon)
        super().connection_made(cast("asyncio.Transport", joining))
