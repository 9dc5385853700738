"""Answers over server-sent events: graphql-sse, "distinct connections" mode, for scripts and strict proxies.

event: next        data: {"data": …} or {"errors": …}
event: complete    data:
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

from app.graphql.wire import encode_json, result_body
from schema.base.masking import internal_error, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send
    from strawberry.schema.schema import StreamResult
    from strawberry.types import ExecutionResult

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    # Proxies must neither keep, compress nor collect what is meant to arrive as it happens.
    (b"cache-control", b"no-cache, no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"accept"),
]
_COMPLETE = b"event: complete\ndata:\n\n"
_KEEPALIVE = b":\n\n"
#: How long the last words of a stream may wait for a client that does not read.
_FAREWELL_SECONDS = 2.0


class EventStream:
    """One streamed answer, an ASGI response.

    It ends when the results end, the client goes away, the caller may no longer listen, or the server stops. A client
    that does not read holds up its own stream alone: nothing is buffered beyond what the connection takes.

    Args:
        open_results: Starts the operation. Called once, in the task that reads the results, so that context
            variables set before stay visible to resolvers.
        expired: Returns when the caller may no longer listen; the stream then says so and ends.
        stopping: Set when the server stops.
        keepalive_seconds: A comment is sent after so long without an answer.
    """

    def __init__(
        self,
        open_results: Callable[[], Awaitable[StreamResult]],
        expired: Callable[[], Awaitable[None]] | None,
        stopping: asyncio.Event,
        keepalive_seconds: float,
    ) -> None:
        self._open_results = open_results
        self._expired = expired
        self._stopping = stopping
        self._keepalive_seconds = keepalive_seconds
        self._writing = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the stream."""
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        results = asyncio.create_task(self._send_results(send))
        keepalive = asyncio.create_task(self._keep_alive(send))
        gone = asyncio.create_task(_disconnected(receive))
        stopped = asyncio.create_task(self._stopping.wait())
        expired = None if self._expired is None else asyncio.ensure_future(self._expired())
        waiting = [task for task in (results, gone, stopped, expired) if task is not None]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            was_expired = expired is not None and expired.done() and not results.done()
            await _cancel(keepalive, *waiting)
        if gone.done() and not gone.cancelled():
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                await self._say_farewell(send, expired if was_expired else None)

    async def _say_farewell(self, send: Send, expired: asyncio.Future[None] | None) -> None:
        if expired is not None:
            await self._send_expiry(send, expired)
        await send({"type": "http.response.body", "body": _COMPLETE, "more_body": False})

    async def _send_results(self, send: Send) -> None:
        try:
            async with aclosing(await self._open_results()) as results:
                async for result in results:
                    await self._send_next(send, result_body(cast("ExecutionResult", result)))  # @defer is off
        except Exception as error:
            error_id = report(error, "stream failed")
            await self._send_next(send, _errors(internal_error(error_id), {"code": "INTERNAL", "id": error_id}))

    async def _send_expiry(self, send: Send, expired: asyncio.Future[None]) -> None:
        failure = None if expired.cancelled() else expired.exception()
        if failure is not None:
            report(failure, "watching a caller failed")
        await self._send_next(send, _errors("The token expired, was revoked or lost a scope.", {"code": "FORBIDDEN"}))

    async def _send_next(self, send: Send, body: dict[str, object]) -> None:
        async with self._writing:
            event = f"event: next\ndata: {encode_json(body)}\n\n"
            await send({"type": "http.response.body", "body": event.encode(), "more_body": True})

    async def _keep_alive(self, send: Send) -> None:
        while True:
            await asyncio.sleep(self._keepalive_seconds)
            async with self._writing:
                await send({"type": "http.response.body", "body": _KEEPALIVE, "more_body": True})


def _errors(message: str, extensions: dict[str, object]) -> dict[str, object]:
    return {"errors": [{"message": message, "extensions": extensions}]}


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancel tasks and wait until what they held is released; their failures were told or no longer matter."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
