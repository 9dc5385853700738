"""Answers that may take long, on the newest wire: those of calls that wait for a run.

The client gets what the SDK would send it: one JSON object when the answer comes soon and nothing was told before it,
else a stream of events that says every now and then that it is alive. Closing the connection cancels the call.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from starlette.types import Receive, Send

#: Seconds of silence after which a stream says that it is alive, so that no proxy closes it; the SDK's.
PING_SECONDS: Final = 15.0
_PING: Final = b": ping\r\n\r\n"
_STREAM_HEADERS: Final = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"connection", b"keep-alive"),
    (b"x-accel-buffering", b"no"),
)


class Reply:
    """What one call is answered with, and what it is told before.

    Args:
        send: Of the request.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._writing = asyncio.Lock()
        self._clock = asyncio.get_running_loop().time
        self._said_at = self._clock()
        self._streams = False

    @property
    def silence_left(self) -> float:
        """Seconds until it is time to say that it is alive."""
        return self._said_at + PING_SECONDS - self._clock()

    async def tell(self, message: bytes) -> None:
        """Tells a notification in JSON."""
        await self._say(_event(message), more=True)

    async def ping(self) -> None:
        """Says that it is alive."""
        await self._say(_PING, more=True)

    async def end(self, message: bytes) -> None:
        """Tells the answer in JSON."""
        if self._streams:
            await self._say(_event(message), more=False)
        else:
            await send_json(self._send, message)

    async def _say(self, text: bytes, *, more: bool) -> None:
        async with self._writing:
            if not self._streams:
                self._streams = True
                await self._send({"type": "http.response.start", "status": 200, "headers": [*_STREAM_HEADERS]})
            await self._send({"type": "http.response.body", "body": text, "more_body": more})
            self._said_at = self._clock()


async def send_json(send: Send, body: bytes) -> None:
    """Answers a request with JSON."""
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def hold(receive: Receive, reply: Reply, answer: Coroutine[Any, Any, bytes]) -> None:
    """Waits for an answer and sends it, unless the client goes away before; then the answer is cancelled.

    Args:
        receive: Of the request, whose body has been read.
        reply: Told the answer.
        answer: Comes to the answer in JSON.
    """
    answering, gone = asyncio.create_task(answer), asyncio.create_task(_gone(receive))
    try:
        while not answering.done():
            await asyncio.wait(
                (answering, gone), timeout=max(0.0, reply.silence_left), return_when=asyncio.FIRST_COMPLETED
            )
            if gone.done():
                return
            if not answering.done() and reply.silence_left <= 0:
                await reply.ping()
        await reply.end(answering.result())
    finally:
        answering.cancel()
        gone.cancel()
        await asyncio.gather(answering, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _event(message: bytes) -> bytes:
    return b"event: message\r\ndata: %b\r\n\r\n" % message
