"""HTTP connections whose client has ended its side: what it asked for before is answered.

`nc -N` and some libraries end their sending side with the request. To the server that looks as a client does that has
gone: the same FIN. uvicorn takes each for one that has gone, and closes. Here a request that came whole goes on, and
whether anybody still listens is found out by writing: a machine answers what is sent to a closed socket with a reset.
Once a second has passed without an answer, something is written that no HTTP/1.1 client minds, and the socket is looked
at every second: the answer of a client that has gone is given up within some two seconds, as a disconnect.
"""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

#: Between two looks at a connection whose client sends no more.
LOOK_SECONDS: Final = 1.0
#: Clients take any number of these before the answer, asked for or not (RFC 9110 section 15.2).
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class HalfClosedProtocol(HttpToolsProtocol):
    """uvicorn's protocol, for clients that end their side before they are answered, too."""

    _look: asyncio.TimerHandle | None = None
    _asked = False

    def eof_received(self) -> bool:  # type: ignore[override] # uvicorn's never stays open
        """Takes the end of what the client sends; true to stay open, until what was asked for is answered."""
        cycle: RequestResponseCycle | None = self.cycle
        # A stream that has begun ends as it always did: its client counts on its place being free at once.
        if cycle is None or cycle.response_started or cycle.more_body:
            self.transport.close()  # ours: what it holds is written first
            return False
        cycle.keep_alive = False
        self._look = self.loop.call_later(LOOK_SECONDS, self._look_whether_gone)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Takes the end of the connection."""
        if self._look is not None:
            self._look.cancel()
        super().connection_lost(exc)

    def _look_whether_gone(self) -> None:
        if self.transport.is_closing():
            return
        if _is_reset(self.transport.get_extra_info("socket").fileno()):
            self.transport.abort()
            return
        # While others are queued, the one that is answered is not known.
        if not self._asked and not self.pipeline:
            self._asked = True
            self._ask()
        self._look = self.loop.call_later(LOOK_SECONDS, self._look_whether_gone)

    def _ask(self) -> None:
        """Writes what a client that has gone resets; an answer that has begun does so itself, a stream by its pings."""
        cycle = self.cycle
        if cycle.response_started:
            return
        if cycle.scope["http_version"] == "1.1":
            self.transport.write(_CONTINUE)
        else:
            self.transport.abort()  # older clients take nothing before the answer


def _is_reset(descriptor: int) -> bool:
    """Whether a socket is of no use any more; one that has been closed by the other side alone is not."""
    poll = select.poll()
    poll.register(descriptor, 0)  # errors are told unasked
    return bool(poll.poll(0))
