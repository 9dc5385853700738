"""Middleware that opens a span for each request of a program; used only while traces are exported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.requests import HTTPConnection

from runner import tracing

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Routes by the first part of the path. Files of the page have no spans, nor has what an address names: keys are in it.
_ROUTES: Final = {
    "graphql": "/graphql",
    "mcp": "/mcp",
    "a2a": "/a2a",
    "hooks": "/hooks/{address}",
    "artifacts": "/artifacts",
}


class TracedRequests:
    """Open a span around each request; its caller's trace goes on if the headers carry it.

    A socket has none: each of its operations has one (`app.graphql.websocket`).
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        route = _ROUTES.get(scope["path"].split("/", 2)[1]) if scope["type"] == "http" else None
        if route is None:
            await self._app(scope, receive, send)
            return
        method: str = scope["method"]
        attributes = {"http.request.method": method, "http.route": route}
        parent = tracing.received(HTTPConnection(scope).headers)
        with tracing.span(f"{method} {route}", tracing.Kind.SERVER, attributes, parent=parent) as span:

            async def observe(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = int(message["status"])  # Starlette passes on what it was given, an `HTTPStatus` perhaps
                    span.set("http.response.status_code", status)
                    if status >= 500:
                        span.fail(str(status))
                await send(message)

            await self._app(scope, receive, observe)
