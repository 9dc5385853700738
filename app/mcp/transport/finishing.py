"""The end of the input on stdio: calls under way are answered before it is heard. Imports `mcp`.

The SDK ends the calls under way as soon as its input ends. So the end is held back until they are answered, or have
taken longer than `endings.GRACE_SECONDS`.
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

#: JSON-RPC code of a call that is given up, the SDKs' own for a connection that has closed.
_CLOSED = -32000


class Incoming(Protocol):
    """What the SDK's transports read from; its class has no public name."""

    async def receive(self) -> SessionMessage | Exception:
        """The next message, or why a line is none."""

    async def aclose(self) -> None:
        """Closes it."""


class Outgoing(Protocol):
    """What the SDK's transports write to; its class has no public name."""

    async def send(self, item: SessionMessage, /) -> None:
        """Sends a message."""

    async def aclose(self) -> None:
        """Closes it."""


class _Open:
    """The calls that the client waits for: their methods, by id."""

    def __init__(self) -> None:
        self.methods: dict[str | int, str] = {}
        self.none = asyncio.Event()

    def heard(self, message: types.JSONRPCMessage) -> None:
        """Notes what a client sends."""
        if isinstance(message, types.JSONRPCRequest):
            if message.method not in OPEN_ENDED:
                self.methods[message.id] = message.method
                self.none.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            self.answered((message.params or {}).get("requestId"))

    def answered(self, request_id: str | int | None) -> None:
        """A call is answered, or nobody waits for it any more."""
        if request_id is not None:
            self.methods.pop(request_id, None)
        if not self.methods:
            self.none.set()


class Heard(ObjectReceiveStream[SessionMessage | Exception]):
    """What a client sends; its end is heard once the calls under way are answered.

    Args:
        inner: As it is sent.
        said: Where it is answered.
        ending: Set at the real end.
    """

    def __init__(self, inner: Incoming, said: Said, ending: asyncio.Event) -> None:
        self._inner = inner
        self._said = said
        self._ending = ending

    async def receive(self) -> SessionMessage | Exception:
        """The next message; see `anyio.abc.ObjectReceiveStream`. Lines that are none are refused here."""
        while True:
            try:
                item = await self._inner.receive()
            except anyio.EndOfStream:
                self._ending.set()
                await self._said.finish()
                raise
            if isinstance(item, SessionMessage):
                self._said.open.heard(item.message)
                return item
            if (told := _refusal(item)) is not None:
                await self._said.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=None, error=told)))

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()


def _refusal(unread: Exception) -> types.ErrorData | None:
    """What to say of a line that is no message, which the SDK passes over; nothing of an empty one."""
    if not isinstance(unread, ValidationError):
        return types.ErrorData(code=types.PARSE_ERROR, message=NO_JSON)
    first = unread.errors(include_url=False, include_context=False)[0]
    if first["type"] != "json_invalid":
        return types.ErrorData(code=types.INVALID_REQUEST, message=NO_MESSAGE)
    blank = isinstance(first["input"], str | bytes) and not first["input"].strip()
    return None if blank else types.ErrorData(code=types.PARSE_ERROR, message=NO_JSON)


class Said(ObjectSendStream[SessionMessage]):
    """What a client is answered.

    Args:
        inner: Takes the answers.
    """

    def __init__(self, inner: Outgoing) -> None:
        self._inner = inner
        self.open = _Open()

    async def send(self, item: SessionMessage) -> None:
        """Sends a message; see `anyio.abc.ObjectSendStream`."""
        await self._inner.send(item)
        if isinstance(item.message, types.JSONRPCResponse | types.JSONRPCError):
            self.open.answered(item.message.id)

    async def finish(self) -> None:
        """Returns once every call is answered; those that take too long are told so."""
        if not self.open.methods:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.open.none.wait(), GRACE_SECONDS)
        for request_id, method in list(self.open.methods.items()):
            told = types.ErrorData(code=_CLOSED, message=too_late(method))
            await self.send(SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request_id, error=told)))

    async def aclose(self) -> None:
        """Closes it."""
        await self._inner.aclose()
