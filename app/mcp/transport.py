"""The HTTP transport of the SDK, as Packline runs it. Imports `mcp`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from app.mcp.server import build_server

if TYPE_CHECKING:
    from app.mcp.server import SessionOf
    from schema.guarded import GuardedSchema


def http_manager(schema: GuardedSchema, session_of: SessionOf, body_bytes: int) -> StreamableHTTPSessionManager:
    """What answers requests; enter its `run()` first, in the task that leaves it.

    Stateless for clients of the handshake versions: sessions would die with the process, and none of the clients tried
    opens a new one. Host and Origin are checked for the whole server, in `app.hosts`.
    """
    return StreamableHTTPSessionManager(
        build_server(schema, session_of), stateless=True, max_request_body_size=body_bytes
    )
