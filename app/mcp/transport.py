"""The HTTP transport of the SDK, as Packline runs it. Imports `mcp`."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from app.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.mcp.server import SessionOf
    from schema.guarded import GuardedSchema

#: Versions of the protocol from this one on name method and tool in headers.
_HEADED: Final = b"2026"
#: A query of the caller's own may wait for a run.
_MAY_WAIT: Final = frozenset({"graphql_query"})


@asynccontextmanager
async def http_server(schema: GuardedSchema, session_of: SessionOf, body_bytes: int) -> AsyncIterator[ASGIApp]:
    """What answers requests; leave it in the task that entered it.

    Stateless for clients of the handshake versions: sessions would die with the process, and none of the clients tried
    opens a new one. Host and Origin are checked for the whole server, in `app.hosts`. What is answered at once is
    answered without a stream that could tell of progress, at two thirds of the CPU.
    """
    server = build_server(schema, session_of)
    lookup = server.get_tool_input_schema
    assert lookup is not None, "build_server gives one"
    streams, plain = (
        StreamableHTTPSessionManager(server, stateless=True, json_response=json, max_request_body_size=body_bytes)
        for json in (False, True)
    )

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        manager = plain if _is_quick(scope, lookup) else streams
        await manager.handle_request(scope, receive, send)

    async with streams.run(), plain.run():
        yield answer


def _is_quick(scope: Scope, lookup: Callable[[str], Mapping[str, object] | None]) -> bool:
    """Whether a request is answered at once, by what its headers say; the SDK holds them against the body."""
    version = method = name = b""
    for key, value in scope["headers"]:
        if key == b"mcp-protocol-version":
            version = value
        elif key == b"mcp-method":
            method = value
        elif key == b"mcp-name":
            name = value
    if version < _HEADED:
        return False
    if method != b"tools/call":
        return method == b"tools/list"
    tool = name.decode("latin-1")
    schema = lookup(tool)
    properties = schema.get("properties") if schema is not None and tool not in _MAY_WAIT else None
    return isinstance(properties, dict) and "wait_seconds" not in properties
