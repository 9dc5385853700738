"""The HTTP transport: plain calls here and now, everything else by the SDK. Imports `mcp`."""

from __future__ import annotations

import contextlib
import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import ClientDisconnect

from app.mcp.handshake import Handshakes, OpenCalls
from app.mcp.quick import QuickCalls
from app.mcp.server import build_server
from app.mcp.toolbox import Toolbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.mcp.parts import RequestContext
    from app.mcp.session import Session
    from schema.guarded import GuardedSchema

#: Versions of the protocol from this one on name the method in a header.
_HEADED: Final = b"2026"
#: Where the SDK logs what broke while it read a request.
_SDK_LOG: Final = "mcp.server.streamable_http"


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether a line is about the server: a client that hangs up in the middle of a request is no error of its."""
    return record.exc_info is None or not isinstance(record.exc_info[1], ClientDisconnect)


@asynccontextmanager
async def http_server(
    schema: GuardedSchema, session_in: Callable[[Scope], Session], body_bytes: int
) -> AsyncIterator[ASGIApp]:
    """What answers requests; leave it in the task that entered it.

    Stateless for clients of the handshake versions: sessions would die with the process, and none of the clients tried
    opens a new one. Host and Origin are checked for the whole server, in `app.hosts`. What is answered at once is
    answered without a stream that could tell of progress, at two thirds of the CPU.
    """

    def session_of(ctx: RequestContext) -> Session:
        assert ctx.request is not None, "it came over HTTP"
        return session_in(ctx.request.scope)

    logging.getLogger(_SDK_LOG).addFilter(_is_ours)
    toolbox = Toolbox(schema)
    calls = OpenCalls()
    server = build_server(toolbox, session_of, calls=calls)
    streams, plain = (
        StreamableHTTPSessionManager(server, stateless=True, json_response=json, max_request_body_size=body_bytes)
        for json in (False, True)
    )

    handshakes = Handshakes(calls, session_in, streams.handle_request)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        version, method = _stated(scope)
        if version < _HEADED:
            await handshakes(scope, receive, send)
        else:
            manager = plain if method == b"tools/list" else streams
            with contextlib.suppress(ClientDisconnect):
                await manager.handle_request(scope, receive, send)

    async with streams.run(), plain.run():
        yield QuickCalls(toolbox, server, session_in, answer, body_bytes)


def _stated(scope: Scope) -> tuple[bytes, bytes]:
    """Version and method by what a request's headers say; the SDK holds them against the body."""
    version = method = b""
    for key, value in scope["headers"]:
        if key == b"mcp-protocol-version":
            version = value
        elif key == b"mcp-method":
            method = value
    return version, method
