"""`/graphql`: the schema over HTTP, websockets and server-sent events.

One subclass of Strawberry's ASGI application. It follows GraphQL over HTTP (https://graphql.github.io/graphql-over-http)
and turns off the defaults that the server does not need; `schema.guard.guarded_schema.GuardedSchema` executes.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.schema.exceptions import InvalidOperationTypeError
from strawberry.subscriptions import GRAPHQL_SSE_PROTOCOL, GRAPHQL_TRANSPORT_WS_PROTOCOL
from strawberry.types.graphql import OperationType
from strawberry.types.unset import UnsetType

from app.auth.identity import bearer_token
from app.auth.refusals import unauthenticated
from app.graphql.sse import EventStream
from app.graphql.websocket import SocketAdapter, SocketHandler, SocketState
from app.graphql.wire import (
    Media,
    Operation,
    Refusal,
    decode_json,
    encode_json,
    negotiate,
    read_body,
    read_query_string,
    result_response,
    timed_out,
    unexpected_response,
)
from app.http.while_allowed import NoLongerAllowedError, while_allowed
from runner import tracing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send
    from strawberry.schema.schema import StreamResult

    from schema.guard.guarded_schema import GuardedSchema

CallerT = TypeVar("CallerT")

#: Finds the caller of a bearer token or, without one, of the connection's cookies; None refuses.
Authenticate: TypeAlias = "Callable[[HTTPConnection, str | None], Awaitable[CallerT | None]]"
#: Makes the context of one operation. Runs in the operation's task, so it may set context variables.
MakeContext: TypeAlias = "Callable[[CallerT, HTTPConnection], object]"
#: Returns within a few seconds after the caller's token expired, was revoked or lost a scope.
WatchCaller: TypeAlias = "Callable[[CallerT], Awaitable[None]]"

_READ = frozenset({OperationType.QUERY})
_READ_AND_CHANGE = frozenset({OperationType.QUERY, OperationType.MUTATION})
_ALL = frozenset(OperationType)
_CHALLENGE = 'Bearer realm="packline"'


@dataclass(frozen=True, slots=True)
class TransportLimits:
    """Limits of time and size; that of a body is `RequestLimits.body_bytes`."""

    #: Longest time of a query or mutation; above the longest `waitSeconds` (50).
    request_seconds: float = 60.0
    #: Longest time from handshake to `connection_init`, and of signing in.
    init_seconds: float = 10.0
    #: Characters of one websocket frame. uvicorn's `ws_max_size` should be the same: it refuses before buffering.
    frame_bytes: int = 262_144
    #: Concurrent operations of one socket.
    operations_per_socket: int = 100
    #: Sockets not yet signed in; the handshake refuses more.
    unauthenticated_sockets: int = 256
    #: Interval of the comments that keep proxies from closing an idle event stream.
    keepalive_seconds: float = 15.0


class GraphQLApp(GraphQL[Any, None], Generic[CallerT]):
    """The ASGI application behind `/graphql`.

    It authenticates every request, socket and stream before it reads the operation. It refuses mutations over GET,
    batches, multipart requests, `@defer` and the legacy `graphql-ws` protocol.

    Args:
        schema: The schema.
        authenticate: Finds the caller. None refuses: 401, or 4403 on a socket, whose token comes in `connection_init`
            as `{"Authorization": "Bearer …"}`.
        make_context: Makes a context for each operation, on sockets too.
        watch_caller: Its return ends sockets (4403) and streams; None leaves them open.
        transport: Limits of time and size.
        allowed_origins: Other origins whose pages may open a socket with this server's cookies.
    """

    graphql_transport_ws_handler_class = SocketHandler
    websocket_adapter_class = SocketAdapter
    schema: GuardedSchema

    def __init__(
        self,
        schema: GuardedSchema,
        *,
        authenticate: Authenticate[CallerT],
        make_context: MakeContext[CallerT],
        watch_caller: WatchCaller[CallerT] | None = None,
        transport: TransportLimits | None = None,
        allowed_origins: Sequence[str] = (),
    ) -> None:
        self.transport = transport or TransportLimits()
        super().__init__(
            schema,
            graphql_ide=None,
            subscription_protocols=(GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL),
            connection_init_wait_timeout=timedelta(seconds=self.transport.init_seconds),
            max_subscriptions_per_connection=self.transport.operations_per_socket,
            allowed_origins=allowed_origins,
        )
        self.authenticate = authenticate
        self.make_context = make_context
        self.watch_caller = watch_caller
        self._stopping = asyncio.Event()
        self._unauthenticated: set[int] = set()

    def stop(self) -> None:
        """End open event streams, so that the server need not wait for them; the server closes sockets itself."""
        self._stopping.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._serve_socket(WebSocket(scope, receive, send))
            return
        request = Request(scope, receive)
        try:
            answer: ASGIApp = await self._answer(request)
        except Refusal as refusal:
            answer = refusal.response()
        except ClientDisconnect:
            return
        except Exception as error:
            answer = unexpected_response(error, method=request.method)
        await answer(scope, receive, send)

    # -- HTTP ----------------------------------------------------------------------------------------------

    async def _answer(self, request: Request) -> ASGIApp:
        if request.method not in ("GET", "POST"):
            raise Refusal(405, "METHOD_NOT_ALLOWED", "Use GET or POST.", {"allow": "GET, POST"})
        try:
            async with asyncio.timeout(self.transport.request_seconds):
                return await self._answer_once(request)
        except TimeoutError:
            raise Refusal(
                504,
                "TIMEOUT",
                timed_out(self.transport.request_seconds),
            ) from None

    async def _answer_once(self, request: Request) -> ASGIApp:
        caller = await self._caller_of(request)
        answer = self._answer_to(request, caller)
        watch_caller = self.watch_caller
        if watch_caller is None:
            return await answer
        try:
            return await while_allowed(answer, lambda: watch_caller(caller))
        except NoLongerAllowedError:
            raise _unauthenticated(request, bearer_token(request.headers.get("authorization"))) from None

    async def _answer_to(self, request: Request, caller: CallerT) -> ASGIApp:
        media = negotiate(request.headers.get("accept", "*/*"))
        if media is None:
            raise Refusal(406, "NOT_ACCEPTABLE", f"The Accept header must allow one of {', '.join(Media)}.")
        operation = await self._read(request)
        context = self.make_context(caller, request)
        if media is not Media.STREAM:
            if (parent := tracing.received(operation.extensions)) is None:
                return await self._execute(request, operation, context, media)
            with tracing.span("operation", tracing.Kind.SERVER, parent=parent):
                return await self._execute(request, operation, context, media)
        return self._stream(request, operation, context, caller)

    async def _caller_of(self, request: Request) -> CallerT:
        token = bearer_token(request.headers.get("authorization"))
        caller = await self.authenticate(request, token)
        if caller is None:
            raise _unauthenticated(request, token)
        return caller

    async def _read(self, request: Request) -> Operation:
        if request.method == "POST":
            return await read_body(request, self.schema.limits.body_bytes)
        return read_query_string(request)

    async def _execute(self, request: Request, operation: Operation, context: object, media: Media) -> Response:
        try:
            result = await self.schema.execute(
                operation.query,
                variable_values=operation.variables,
                context_value=context,
                operation_name=operation.name,
                allowed_operation_types=_READ if request.method == "GET" else _READ_AND_CHANGE,
            )
        except InvalidOperationTypeError as error:
            raise _wrong_method(error.operation_type) from None
        return result_response(result, media)

    def _stream(self, request: Request, operation: Operation, context: object, caller: CallerT) -> ASGIApp:
        kind = self.schema.documents.operation_type(operation.query, operation.name)
        if request.method == "GET" and kind is not None and kind.value == OperationType.MUTATION.value:
            raise _wrong_method(OperationType.MUTATION)

        async def open_results() -> StreamResult:
            return await self.schema.stream(
                operation.query,
                variable_values=operation.variables,
                context_value=context,
                operation_name=operation.name,
                allowed_operation_types=_ALL,
            )

        watch_caller = self.watch_caller
        expired = None if watch_caller is None else lambda: watch_caller(caller)
        return EventStream(open_results, expired, self._stopping, self.transport.keepalive_seconds)

    # -- websockets ----------------------------------------------------------------------------------------

    async def _serve_socket(self, socket: WebSocket) -> None:
        if len(self._unauthenticated) >= self.transport.unauthenticated_sockets:
            await self.reject_websocket(socket)
            return
        self._unauthenticated.add(id(socket))
        try:
            await self.run(socket)
        finally:
            self._unauthenticated.discard(id(socket))

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> SocketState:
        """Return the state of a socket; `make_context` makes the contexts of its operations."""
        if not isinstance(request, WebSocket):
            raise TypeError("only sockets have a state")
        return SocketState(request)

    async def on_ws_connect(self, context: SocketState) -> UnsetType:
        """Sign a socket in.

        Raises:
            ConnectionRejectionError: It has no valid credentials; closes with 4403.
        """
        params = context.connection_params or {}
        given = params.get("Authorization", params.get("authorization"))
        if given is None:
            given = context.connection.headers.get("authorization")
        token = bearer_token(given) if isinstance(given, str) else None
        if given is not None and token is None:
            raise ConnectionRejectionError
        async with asyncio.timeout(self.transport.init_seconds):
            caller = await self.authenticate(context.connection, token)
        if caller is None:
            raise ConnectionRejectionError
        context.caller = caller
        self._unauthenticated.discard(id(context.connection))
        return UnsetType()

    def decode_json(self, data: str | bytes) -> object:
        """Decode a frame strictly, by `app.graphql.wire.decode_json`."""
        return decode_json(data)

    def encode_json(self, data: object) -> str:
        return encode_json(data)


def _unauthenticated(request: Request, token: str | None) -> Refusal:
    return Refusal(401, "UNAUTHENTICATED", *unauthenticated(request, token))


def _wrong_method(kind: OperationType) -> Refusal:
    if kind is OperationType.MUTATION:
        return Refusal(405, "METHOD_NOT_ALLOWED", "Send mutations with POST.", {"allow": "POST"})
    return Refusal(
        406,
        "NOT_ACCEPTABLE",
        f"Subscriptions need {Media.STREAM} in the Accept header, or a websocket with {GRAPHQL_TRANSPORT_WS_PROTOCOL}.",
    )
