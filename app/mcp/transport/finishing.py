"""Drain open calls at the end of the input on stdio. Imports `mcp`.

The SDK cancels open calls as soon as its input ends. So these streams delay the end until the calls are answered, or
have taken longer than `endings.GRACE_SECONDS`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Protocol

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from app.mcp.transport.bridge import NO_JSON, NO_MESSAGE
from app.mcp.transport.endings import GRACE_SECONDS, OPEN_ENDED, too_late

#: JSON-RPC code of a call that is given up; the SDKs use it for a closed connection.
_CLOSED = -32000


class Receiver(Protocol):
    """The stream the SDK's transports read from; its class has no public name."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or the error of a line that is not one."""

    async def aclose(self) -> None: ...


class Sender(Protocol):
    """The stream the SDK's transports write to; its class has no public name."""

    async def send(self, item: SessionMessage, /) -> None: ...

    async def aclose(self) -> None: ...


class _OpenCalls:
    """The calls the client waits for: their methods, by id."""

    def __init__(self) -> None:
        self.methods: dict[str | int, str] = {}
        self.none = asyncio.Event()

    def received(self, message: types.JSONRPCMessage) -> None:
        """Record a message of the client."""
        if isinstance(message, types.JSONRPCRequest):
            if message.method not in OPEN_ENDED:
                self.methods[message.id] = message.method
                self.none.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self.answered((message.params or {}).get("requestId"))

    def answered(self, request_id: str | int | None) -> None:
        """Record that a call is answered or cancelled."""
        if request_id is not None:
            self.methods.pop(request_id, None)
        if not self.methods:
            self.none.set()


class DrainingReceiver(ObjectReceiveStream[SessionMessage | Exception]):
    """The client's messages; the stream ends once the open calls are answered.

    Args:
        inner: The client's messages.
        sender: The answers to them.
        ending: Set when `inner` ends.
    """

    def __init__(self, inner: Receiver, sender: TrackingSender, ending: asyncio.Event) -> None:
        self._inner = inner
        self._sender = sender
        self._ending = ending

    async def receive(self) -> SessionMessage | Exception:
        """The next message; lines that are not messages are refused here."""
        while True:
            try:
                item = await self._inner.receive()
            except anyio.EndOfStream:
                self._ending.set()
                await self._sender.drain()
                raise
            if isinstance(item, SessionMessage):
                self._sender.calls.received(item.message)
                return item
            if (error := _refusal(item)) is not None:
                await self._sender.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=error)))

    async def aclose(self) -> None:
        await self._inner.aclose()


def _refusal(unread: Exception) -> types.ErrorData | None:
    """The error for a line that is not a message, which the SDK ignores; None for an empty line."""
    if not isinstance(unread, ValidationError):
        return types.ErrorData(code=types.PARSE_ERROR, message=NO_JSON)
    first = unread.errors(include_url=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        return types.ErrorData(code=types.INVALID_REQUEST, message=NO_MESSAGE)
    blank = isinstance(first["input"], str | bytes) and not first["input"].strip()
    return None if blank else types.ErrorData(code=types.PARSE_ERROR, message=NO_JSON)


class TrackingSender(ObjectSendStream[SessionMessage]):
    """The answers to a client, with a record of its open calls.

    Args:
        inner: Receives the answers.
    """

    def __init__(self, inner: Sender) -> None:
        self._inner = inner
        self.calls = _OpenCalls()

    async def send(self, item: SessionMessage) -> None:
        await self._inner.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self.calls.answered(item.message.id)

    async def drain(self) -> None:
        """Wait until every call is answered; calls that take too long get an error."""
        if not self.calls.methods:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.calls.none.wait(), GRACE_SECONDS)
        for request_id, method in list(self.calls.methods.items()):
            error = types.ErrorData(code=_CLOSED, message=too_late(method))
            await self.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=error)))

    async def aclose(self) -> None:
        await self._inner.aclose()
