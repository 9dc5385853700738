"""The surfaces: what answers people and programs, each at its address, all on one schema.

Importing it takes a quarter of a start, since the API's types come with it: `app.main` does so last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.routing import Route, WebSocketRoute

from app.a2a.mount import A2AMount
from app.auth.gate import AttemptGate
from app.auth.hosts import guard_for
from app.graphiql import graphiql_routes
from app.graphql.endpoint import GraphQLApp, TransportLimits
from app.http.definition_schema import definition_schema_route
from app.http.hooks import Hooks
from app.http.login import login_routes
from app.http.pages import nothing_here, page_routes, unavailable, wrong_method
from app.http.traced import TracedRequests
from app.http.uploads import Uploads
from app.mcp.resources.agent_files import agent_file_routes
from app.mcp.transport.mount import METADATA_PATHS, McpMount
from app.mcp.uris import MCP_PATH
from resolvers.context import Caller, Context, Services
from resolvers.problems import Unavailable
from runner import tracing
from runner.excerpts import excerpt
from schema.base.context import RequestContext
from schema.build import build_schema
from store.database.errors import StoreError
from store.states import RunCause

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection, Request
    from starlette.types import Receive, Scope, Send

    from app.auth.identity import Authenticator
    from app.http.downloads import Downloads
    from app.settings.server import Settings

#: How long a request may take besides what it waits for.
ANSWER_SECONDS = 10.0


class Surfaces:
    """GraphQL, MCP, A2A, files and pages as one ASGI application.

    Args:
        settings: Hosts, limits and addresses.
        services: What use cases work with.
        authenticator: Who may call.
        downloads: Serves artifacts and transcripts.

    Attributes:
        schema: What GraphQL and MCP run on.
    """

    def __init__(
        self, settings: Settings, services: Services, authenticator: Authenticator, downloads: Downloads
    ) -> None:
        self.schema = build_schema(settings.request_limits())
        self._services = services
        self._mcp = McpMount(self.schema, authenticator, settings, self._command)
        self._a2a = A2AMount(self.schema, authenticator, settings, self._command, services)
        self._graphql = graphql = GraphQLApp(
            self.schema,
            authenticate=authenticator.authenticate,
            make_context=self._context,
            watch_caller=authenticator.watch,
            transport=transport_limits(settings),
            allowed_origins=settings.allowed_origins,
        )
        router = Starlette(
            routes=[
                Route("/graphql", graphql),
                WebSocketRoute("/graphql", graphql),
                *(Route(path, self._mcp) for path in (MCP_PATH, *METADATA_PATHS)),
                *self._a2a.routes(),
                *downloads.routes(),
                *Uploads(authenticator, settings, self._command).routes(),
                *Hooks(services).routes(),
                *login_routes(authenticator),
                *graphiql_routes(),
                *agent_file_routes(authenticator, self.schema, self._command, settings.public_url),
                definition_schema_route(settings.steps_max),
                *page_routes(base=settings.base),
            ],
            exception_handlers={
                404: nothing_here(base=settings.base),
                405: wrong_method,
                StoreError: unavailable,
                Unavailable: unavailable,
            },
        )
        answer = guard_for(AttemptGate(router, authenticator), settings)
        self._answer = TracedRequests(answer) if tracing.is_on() else answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one connection."""
        await self._answer(scope, receive, send)

    def start(self) -> None:
        """Starts the task that owns the MCP server, and the push notifications of A2A."""
        self._mcp.start()
        self._a2a.start()

    def begin_stopping(self) -> None:
        """Ends open event streams, so that the server need not wait for them."""
        self._graphql.stop()
        self._mcp.begin_stopping()
        self._a2a.begin_stopping()

    async def stop(self) -> None:
        """Ends both; harmless twice."""
        await self._a2a.stop()
        await self._mcp.stop()

    def _context(self, caller: Caller, connection: HTTPConnection) -> RequestContext:
        client = connection.headers.get("x-packline-client") or connection.headers.get("user-agent")
        context = Context(
            services=self._services,
            caller=caller,
            client_name=excerpt(client, 200) if client else None,
            cause=RunCause.PERSON,
        )
        return RequestContext(context)

    def _command(self, caller: Caller, request: Request) -> Context:
        return self._context(caller, request).context


def transport_limits(settings: Settings) -> TransportLimits:
    """Times and sizes of the transport; a request may take as long as it may wait for a run, and a little."""
    return TransportLimits(
        request_seconds=settings.wait_seconds_max + ANSWER_SECONDS, frame_bytes=settings.request_body_bytes
    )
