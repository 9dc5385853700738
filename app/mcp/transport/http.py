"""The HTTP transport of the SDK, for both eras of the protocol. Imports `mcp`."""

from __future__ import annotations

import contextlib
import logging
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from pydantic_core import from_json
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse

from app.http.bodies import BodyTooLarge, read_bounded, replaying
from app.mcp.tools.toolbox import Toolbox
from app.mcp.transport.handshake import Handshakes, OpenCalls
from app.mcp.transport.messages import INVALID_REQUEST, UPLOAD_INSTEAD, find_fault
from app.mcp.transport.server import build_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.mcp.session import Session
    from app.mcp.transport.parts import RequestContext
    from schema.guard.guarded_schema import GuardedSchema

#: The first version of the protocol without a handshake.
_NO_HANDSHAKE: Final = "2026"
#: The SDK's logger of errors while it reads a request.
_SDK_LOG: Final = "mcp.server.streamable_http"


def _is_server_error(record: logging.LogRecord) -> bool:
    """Whether a log line is about the server; a client that disconnects during a request is not an error."""
    return record.exc_info is None or not isinstance(record.exc_info[1], ClientDisconnect)


@asynccontextmanager
async def http_server(
    schema: GuardedSchema, session_in: Callable[[Scope], Session], body_bytes: int
) -> AsyncIterator[ASGIApp]:
    """The ASGI application of the SDK; leave the context in the task that entered it.

    Clients of the handshake versions get no sessions: these would end with the process, and no client we tried opens a
    new one. `app.auth.hosts` checks Host and Origin for the whole server.
    """

    def session_of(ctx: RequestContext) -> Session:
        assert ctx.request is not None, "the request came over HTTP"
        return session_in(ctx.request.scope)

    logging.getLogger(_SDK_LOG).addFilter(_is_server_error)
    calls = OpenCalls()
    server = build_server(Toolbox(schema), session_of, calls=calls)
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=body_bytes)
    handshakes = Handshakes(calls, session_in, manager.handle_request)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        has_handshake = Headers(scope=scope).get("mcp-protocol-version", "") < _NO_HANDSHAKE
        with contextlib.suppress(ClientDisconnect):
            if scope["method"] != "POST":
                await manager.handle_request(scope, receive, send)
                return
            # A body in chunks has no length, and may never end.
            try:
                body = await read_bounded(Request(scope, receive), body_bytes)
            except BodyTooLarge:
                refused: Response | None = _too_large(body_bytes)
            else:
                refused = _refusal(body)
            if refused is not None:
                await refused(scope, receive, send)
            elif has_handshake:
                await handshakes(scope, body, receive, send)
            else:
                await manager.handle_request(scope, replaying(body, receive), send)

    async with manager.run():
        yield answer


def _too_large(limit_bytes: int) -> Response:
    """The refusal of a body over the limit, of which some was not read."""
    message = f"The request is longer than the limit of {limit_bytes:,} bytes. {UPLOAD_INSTEAD}"
    error = {"code": INVALID_REQUEST, "message": message}
    whole = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(whole, HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {"connection": "close"})


def _refusal(body: bytes) -> Response | None:
    """The refusal of JSON that is not a message; None for a body the SDK answers, malformed JSON included."""
    try:
        fault = find_fault(from_json(body))
    except ValueError:
        return None
    if fault is None:
        return None
    error = {"code": INVALID_REQUEST, "message": fault.message}
    return JSONResponse({"jsonrpc": "2.0", "id": fault.request_id, "error": error}, HTTPStatus.BAD_REQUEST)
