"""The SDK's routes around our handler. Imports `a2a`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from a2a.extensions.common import HTTP_EXTENSION_HEADER, get_requested_extensions
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers.response_helpers import agent_card_to_dict
from a2a.server.routes import ServerCallContextBuilder, create_jsonrpc_routes, create_rest_routes
from starlette.applications import Starlette

from app.a2a.cards import public_card
from app.a2a.handler import BASE_STATE, SESSION_STATE, PacklineHandler
from app.a2a.mount import A2A_PATH, BASE, SESSION
from app.mcp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    import asyncio

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from app.a2a.pusher import Pusher
    from schema.guard.guarded_schema import GuardedSchema


class _Contexts(ServerCallContextBuilder):
    """Hand the session of the mount on to the handler."""

    def build(self, request: Request) -> ServerCallContext:
        return ServerCallContext(
            state={
                "headers": dict(request.headers),
                SESSION_STATE: request.scope[SESSION],
                BASE_STATE: request.scope[BASE],
            },
            requested_extensions=get_requested_extensions(request.headers.getlist(HTTP_EXTENSION_HEADER)),
        )


def a2a_server(schema: GuardedSchema, stopping: asyncio.Event, pusher: Pusher) -> ASGIApp:
    """The ASGI application of the SDK: JSON-RPC and HTTP+JSON, each in protocol 1.0 and 0.3."""
    handler, contexts = PacklineHandler(Toolbox(schema), stopping, pusher), _Contexts()
    return Starlette(
        routes=[
            *create_jsonrpc_routes(handler, A2A_PATH, contexts, enable_v0_3_compat=True),
            *create_rest_routes(handler, contexts, enable_v0_3_compat=True, path_prefix=A2A_PATH),
        ]
    )


def public_card_json(base: str, version: str) -> bytes:
    """The card for everybody, for clients of both protocols."""
    return orjson.dumps(agent_card_to_dict(public_card(base, version)))
