"""A network between a browser and a server that can be lost as a computer loses it that sleeps.

async with relay(server.port) as net:
    …                                   # net.port leads to the server
    net.sleep()                         # websockets stay open and carry nothing, other connections break
    net.wake()                          # others can be opened again
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_CHUNK_BYTES = 65_536


@dataclass
class Relay:
    """Passes bytes on.

    Attributes:
        token: The administrator's of the server.
        port: Leads to the server.
    """

    token: str
    port: int = 0
    _server_port: int = 0
    _is_away: bool = False
    _asleep: set[asyncio.StreamWriter] = field(default_factory=set)
    _sockets: set[asyncio.StreamWriter] = field(default_factory=set)
    _others: set[asyncio.StreamWriter] = field(default_factory=set)

    def url(self, path: str = "/") -> str:
        """An address on the server, over this network."""
        return f"http://127.0.0.1:{self.port}{path}"

    def sleep(self) -> int:
        """Loses every connection that is open, without a word to either side of a websocket; how many of those.

        Browsers close the other ones themselves when a computer goes to sleep.
        """
        self._is_away = True
        self._asleep |= self._sockets
        for writer in self._others:
            writer.close()
        return len(self._sockets) // 2

    def wake(self) -> None:
        """Lets connections be opened again."""
        self._is_away = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connects a client to the server until either ends."""
        if self._is_away:
            writer.close()
            return
        with suppress(ConnectionError):
            there, to_server = await asyncio.open_connection("127.0.0.1", self._server_port)
            first = await reader.read(_CHUNK_BYTES)
            kind = self._sockets if b"upgrade: websocket" in first.lower() else self._others
            kind |= {writer, to_server}
            to_server.write(first)
            try:
                await asyncio.gather(self._pass(reader, to_server), self._pass(there, writer))
            finally:
                kind -= {writer, to_server}
                to_server.close()
                writer.close()

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(_CHUNK_BYTES):
                if target not in self._asleep:
                    target.write(data)
                    await target.drain()
        target.close()


@asynccontextmanager
async def relay(port: int, token: str) -> AsyncIterator[Relay]:
    """A network to a server's port, closed at the end."""
    net = Relay(token, _server_port=port)
    listener = await asyncio.start_server(net.serve, "127.0.0.1", 0)
    net.port = listener.sockets[0].getsockname()[1]
    try:
        yield net
    finally:
        listener.close()
        for writer in net._sockets | net._others:
            writer.close()
