"""Results as server-sent events: graphql-sse, "distinct connections" mode, for scripts and strict proxies.

event: next        data: {"data": …} or {"errors": …}
event: complete    data:
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING, Any, cast

from app.auth.refusals import ACCESS_ENDED
from app.graphql.wire import encode_json, result_body
from schema.base.masking import public_answer, report

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import Receive, Scope, Send
    from strawberry.schema.schema import StreamResult
    from strawberry.types import ExecutionResult

_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    # Proxies must not cache, compress or buffer the events.
    (b"cache-control", b"no-cache, no-store, no-transform"),
    (b"x-accel-buffering", b"no"),
    (b"x-content-type-options", b"nosniff"),
    (b"vary", b"accept"),
]
_COMPLETE = b"event: complete\ndata:\n\n"
_KEEPALIVE = b":\n\n"
#: How long the last events of a stream wait for a client that does not read.
_CLOSE_SECONDS = 2.0


class EventStream:
    """One streamed result, an ASGI response.

    It ends when the results end, the client disconnects, the caller's token ends, or the server stops. A client that
    does not read delays only its own stream: nothing is buffered beyond the connection's own buffer.

    Args:
        open_results: Starts the operation. It runs once, in the task that reads the results, so that resolvers see
            context variables set before.
        expired: Returns when the caller's token has ended; the stream then sends an error and ends.
        stopping: Set when the server stops.
        keepalive_seconds: Interval of comments.
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
            async with asyncio.timeout(_CLOSE_SECONDS):
                await self._end(send, expired if was_expired else None)

    async def _end(self, send: Send, expired: asyncio.Future[None] | None) -> None:
        if expired is not None:
            await self._send_expiry(send, expired)
        await send({"type": "http.response.body", "body": _COMPLETE, "more_body": False})

    async def _send_results(self, send: Send) -> None:
        try:
            async with aclosing(await self._open_results()) as results:
                async for result in results:
                    await self._send_next(send, result_body(cast("ExecutionResult", result)))  # @defer is off
        except Exception as error:
            await self._send_next(send, _errors(*public_answer(error, "stream failed")))

    async def _send_expiry(self, send: Send, expired: asyncio.Future[None]) -> None:
        failure = None if expired.cancelled() else expired.exception()
        if failure is not None:
            report(failure, "watching a token failed")
        await self._send_next(send, _errors(ACCESS_ENDED, {"code": "FORBIDDEN"}))

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
    """Cancel tasks and wait until they have released their resources; their failures were reported or do not matter."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
