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

from app.mcp.tools.toolbox import Toolbox
from app.mcp.transport.handshake import Handshakes, OpenCalls, again
from app.mcp.transport.messages import INVALID_REQUEST, find_fault
from app.mcp.transport.server import build_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.mcp.session import Session
    from app.mcp.transport.parts import RequestContext
    from schema.guard.guarded_schema import GuardedSchema

#: Versions of the protocol from this one on have no handshake.
_HEADED: Final = "2026"
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
    opens a new one. Host and Origin are checked for the whole server, in `app.auth.hosts`.
    """

    def session_of(ctx: RequestContext) -> Session:
        assert ctx.request is not None, "it came over HTTP"
        return session_in(ctx.request.scope)

    logging.getLogger(_SDK_LOG).addFilter(_is_ours)
    calls = OpenCalls()
    server = build_server(Toolbox(schema), session_of, calls=calls)
    manager = StreamableHTTPSessionManager(server, stateless=True, max_request_body_size=body_bytes)
    handshakes = Handshakes(calls, session_in, manager.handle_request)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        has_handshake = Headers(scope=scope).get("mcp-protocol-version", "") < _HEADED
        with contextlib.suppress(ClientDisconnect):
            if scope["method"] == "POST" and Headers(scope=scope).get("content-length", "").isdecimal():
                body = await Request(scope, receive).body()
                if (refused := _refusal(body)) is not None:
                    await refused(scope, receive, send)
                    return
                receive = again(body, receive)
            await (handshakes if has_handshake else manager.handle_request)(scope, receive, send)

    async with manager.run():
        yield answer


def _refusal(body: bytes) -> Response | None:
    """The answer to JSON that is no message; None to what the SDK answers, as it does what is no JSON."""
    try:
        fault = find_fault(from_json(body))
    except ValueError:
        return None
    if fault is None:
        return None
    error = {"code": INVALID_REQUEST, "message": fault.message}
    return JSONResponse({"jsonrpc": "2.0", "id": fault.request_id, "error": error}, HTTPStatus.BAD_REQUEST)
