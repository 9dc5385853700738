"""Cancellation for clients of the handshake versions, without sessions.

Such a client cancels a call by a notification in a separate request. The server gives it a name with the answer to
`initialize`, and the client sends the name with each request, which identifies its calls. The name has no other use, so
a restarted server, or another one, serves the client just as well.
"""

from __future__ import annotations

import contextlib
import secrets
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio
import orjson
from starlette.datastructures import Headers

from app.http.bodies import replaying

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from starlette.types import Message, Receive, Scope, Send

    from app.mcp.session import Session

_NAME: Final = "mcp-session-id"
#: Longest name accepted; ours have 32 characters.
_NAME_MAX: Final = 128
#: Longest body that may be a handshake or a cancellation; longer ones are calls.
_SHORT_BYTES: Final = 16_384
_CANCELLED: Final = b"notifications/cancelled"
_INITIALIZE: Final = b"initialize"


class CallKey(NamedTuple):
    """A call, by the ids its client gave it."""

    caller_id: str
    client: str
    request_id: str


class OpenCalls:
    """The open calls that a notification may cancel."""

    def __init__(self) -> None:
        self._open: dict[CallKey, anyio.CancelScope] = {}

    def __len__(self) -> int:
        return len(self._open)

    @contextlib.contextmanager
    def opened(self, key: CallKey | None) -> Iterator[anyio.CancelScope]:
        """A scope that `cancel` cancels."""
        with anyio.CancelScope() as scope:
            if key is None or key in self._open:  # a request id used twice identifies neither call
                yield scope
                return
            self._open[key] = scope
            try:
                yield scope
            finally:
                del self._open[key]

    def cancel(self, key: CallKey) -> None:
        """Cancel a call, if it is still open."""
        scope = self._open.get(key)
        if scope is not None:
            scope.cancel()


def key_of(session: Session, request: Any, request_id: Any) -> CallKey | None:  # noqa: ANN401 - as the SDK has them
    """The key of a call; None if its client has no name, as over stdio, where the SDK cancels calls itself."""
    client = None if request is None else request.headers.get(_NAME)
    if client is None or len(client) > _NAME_MAX:
        return None
    return CallKey(session.caller.id, client, str(request_id))


class Handshakes:
    """Name clients and handle their cancellations, in front of the SDK's transport.

    Args:
        calls: The open calls.
        session_in: Gives the session of a request, from its scope.
        answer: The SDK's transport.
    """

    def __init__(
        self,
        calls: OpenCalls,
        session_in: Callable[[Scope], Session],
        answer: Callable[[Scope, Receive, Send], Awaitable[None]],
    ) -> None:
        self._calls = calls
        self._session_in = session_in
        self._answer = answer

    async def __call__(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Serve one message of a client of the handshake versions."""
        client = Headers(scope=scope).get(_NAME)
        if len(body) <= _SHORT_BYTES:
            if client is None:
                if _INITIALIZE in body and _method(body) == "initialize":
                    send = _naming(send)
            elif _CANCELLED in body and len(client) <= _NAME_MAX:
                self._cancel(self._session_in(scope), client, body)
        await self._answer(scope, replaying(body, receive), send)

    def _cancel(self, session: Session, client: str, body: bytes) -> None:
        match _read(body):
            case {"method": "notifications/cancelled", "params": {"requestId": str() | int() as request_id}}:
                self._calls.cancel(CallKey(session.caller.id, client, str(request_id)))


def _read(body: bytes) -> Any:  # noqa: ANN401 - any JSON
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None  # the SDK refuses it


def _method(body: bytes) -> object:
    read = _read(body)
    return read.get("method") if isinstance(read, dict) else None


def _naming(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            name = (_NAME.encode(), secrets.token_hex(16).encode())
            message = {**message, "headers": [*message.get("headers", ()), name]}
        await send(message)

    return sending
