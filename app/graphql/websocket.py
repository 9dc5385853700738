"""Operations over a websocket: `graphql-transport-ws`, as https://github.com/enisdenjo/graphql-ws specifies it.

Strawberry's handler drives the protocol. This module adds: malformed frames close with 4400 instead of dropping the
connection, the size of frames is limited, each operation has its own context, queries and mutations have a time limit,
an invalid document does not close the socket for the others, and the end of the caller's token closes with 4403.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from graphql import GraphQLError, OperationType
from starlette.websockets import WebSocketDisconnect, WebSocketState
from strawberry.asgi import ASGIWebSocketAdapter
from strawberry.http.exceptions import NonTextMessageReceived, WebSocketDisconnected
from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import BaseGraphQLTransportWSHandler
from strawberry.types.execution import PreExecutionError

from app.auth.refusals import ACCESS_ENDED
from app.graphql.wire import is_request_error, timed_out
from runner import tracing
from runner.excerpts import excerpt
from schema.base.masking import public_answer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

    from starlette.websockets import WebSocket
    from strawberry.subscriptions.protocols.graphql_transport_ws.handlers import Operation
    from strawberry.subscriptions.protocols.graphql_transport_ws.types import (
        CompleteMessage,
        ConnectionInitMessage,
        Message,
        SubscribeMessage,
    )
    from strawberry.types import ExecutionResult

    from app.graphql.endpoint import GraphQLApp

INTERNAL_ERROR = 1011
MESSAGE_TOO_BIG = 1009
BAD_REQUEST = 4400
FORBIDDEN = 4403
#: How long a close frame waits for a client that does not read.
_CLOSE_SECONDS = 2.0


@dataclass(slots=True)
class SocketState:
    """The state of one socket: the handler's context, never an operation's."""

    connection: WebSocket
    #: Payload of `connection_init`.
    connection_params: Mapping[str, object] | None = None
    #: The caller that `authenticate` found; None before the acknowledgement.
    caller: Any = None


class SocketAdapter(ASGIWebSocketAdapter):
    """Read text frames of limited size; writing to a closed socket raises only `WebSocketDisconnected`."""

    view: GraphQLApp[Any]

    async def iter_json(self, *, ignore_parsing_errors: bool = False) -> AsyncGenerator[object, None]:
        """Yield the decoded frames of the socket until it closes."""
        del ignore_parsing_errors
        while self.ws.application_state != WebSocketState.DISCONNECTED:
            try:
                message = await self.ws.receive()
            except RuntimeError:  # our side has closed it
                return
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text")
            if not isinstance(text, str):
                raise NonTextMessageReceived
            if len(text) > self.view.transport.frame_bytes:
                await self.close(MESSAGE_TOO_BIG, f"A frame may have at most {self.view.transport.frame_bytes} bytes")
                return
            try:
                yield self.view.decode_json(text)
            except json.JSONDecodeError as error:
                await self.close(BAD_REQUEST, f"The frame cannot be read as JSON: {error.msg}")
                return

    async def send_json(self, message: Mapping[str, object]) -> None:
        """Send a frame.

        Raises:
            WebSocketDisconnected: The socket is closed.
        """
        if self.ws.application_state == WebSocketState.DISCONNECTED:
            raise WebSocketDisconnected
        try:
            await self.ws.send_text(self.view.encode_json(message))
        except (WebSocketDisconnect, RuntimeError) as error:  # RuntimeError: our side has closed it
            raise WebSocketDisconnected from error

    async def close(self, code: int, reason: str) -> None:
        """Close the socket; harmless if it is closed."""
        if self.ws.application_state == WebSocketState.DISCONNECTED:
            return
        with suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                # A close frame carries at most 123 bytes of reason (RFC 6455 section 5.5).
                await self.ws.close(code, excerpt(reason, 123).encode()[:123].decode(errors="ignore"))


class SocketHandler(BaseGraphQLTransportWSHandler[SocketState, None]):
    """One socket, from handshake to close."""

    view: GraphQLApp[Any]

    _watch: asyncio.Task[None] | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - passed on
        super().__init__(*args, **kwargs)
        #: Trace contexts in the `extensions` of operations that have not begun.
        self._traces: dict[str, dict[str, str]] = {}

    async def handle_message(self, message: Message) -> None:
        """Handle one frame; a frame of the wrong shape closes the socket with 4400."""
        wrong = _wrong_shape(message)
        if wrong is not None:
            await self.handle_invalid_message(wrong)
            return
        if message["type"] == "connection_init" and message.get("payload") is None:
            message = {"type": "connection_init"}
        await super().handle_message(message)

    async def handle_connection_init(self, message: ConnectionInitMessage) -> None:
        """Authenticate, acknowledge, and from then on watch the caller's token."""
        try:
            await super().handle_connection_init(message)
        except WebSocketDisconnected:
            raise
        except Exception as error:
            reason, _ = public_answer(error, "signing in over a socket failed")
            await self.websocket.close(INTERNAL_ERROR, reason)
            return
        if self.connection_acknowledged and self._watch is None and self.view.watch_caller is not None:
            self._watch = asyncio.create_task(self._watch_caller())

    async def _watch_caller(self) -> None:
        watch_caller = self.view.watch_caller
        assert watch_caller is not None
        code, reason = FORBIDDEN, ACCESS_ENDED
        try:
            await watch_caller(self.context.caller)
        except Exception as error:
            code, (reason, _) = INTERNAL_ERROR, public_answer(error, "watching a token failed")
        # Nothing more is sent, not even results that operations already have.
        await self._end_operations()
        await self.websocket.close(code, reason)

    async def _end_operations(self) -> None:
        tasks = [operation.task for operation in self.operations.values() if operation.task is not None]
        self.operations.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def shutdown(self) -> None:
        """Release the socket's tasks."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        await super().shutdown()

    async def handle_subscribe(self, message: SubscribeMessage) -> None:
        """Start an operation; one above the limit gets an error that names the limit."""
        most = self.view.transport.operations_per_socket
        if self.connection_acknowledged and message["id"] not in self.operations and len(self.operations) >= most:
            errors = [_too_many_operations(most).formatted]
            await self.send_message({"id": message["id"], "type": "error", "payload": errors})
            return
        if (trace := tracing.received(message["payload"].get("extensions"))) is not None:
            self._traces[message["id"]] = trace
        await super().handle_subscribe(message)

    async def run_operation(self, operation: Operation[SocketState, None]) -> None:
        """Run one operation in its own context, so that no loader serves another operation's rows."""
        try:
            await self._run(operation)
        except WebSocketDisconnected:
            pass
        except TimeoutError:
            message = timed_out(self.view.transport.request_seconds)
            await self._send_error(operation, GraphQLError(message, extensions={"code": "TIMEOUT"}))
        except Exception as error:
            message, extensions = public_answer(error, "operation failed", operation=operation.operation_name)
            await self._send_error(operation, GraphQLError(message, extensions=extensions))
        finally:
            if self.operations.get(operation.id) is operation:
                del self.operations[operation.id]

    async def _run(self, operation: Operation[SocketState, None]) -> None:
        kind = self.view.schema.documents.operation_type(operation.query, operation.operation_name)
        if (
            kind is None or kind is OperationType.SUBSCRIPTION or not tracing.is_on()
        ):  # a subscription may last for days
            await self._answer(operation, kind)
            return
        state = self.context
        sent = (state.connection_params, state.connection.headers)
        parents = (self._traces.pop(operation.id, None), *(tracing.received(each) for each in sent))
        parent = next((each for each in parents if each is not None), None)
        attributes = {"graphql.operation.type": kind.value}
        with tracing.span(kind.value, tracing.Kind.SERVER, attributes, parent=parent):
            await self._answer(operation, kind)

    async def _answer(self, operation: Operation[SocketState, None], kind: OperationType | None) -> None:
        context = self.view.make_context(self.context.caller, self.context.connection)
        limit = None if kind is OperationType.SUBSCRIPTION else self.view.transport.request_seconds
        async with asyncio.timeout(limit):
            stream = await self.schema.stream(
                operation.query,
                variable_values=operation.variables,
                context_value=context,
                operation_name=operation.operation_name,
            )
            async with aclosing(stream) as results:
                async for item in results:
                    result = cast("ExecutionResult", item)  # @defer and @stream are off
                    if isinstance(result, PreExecutionError) or is_request_error(result):
                        await operation.send_initial_errors(result.errors or [])
                        return
                    await operation.send_next(result)
        await operation.send_operation_message({"id": operation.id, "type": "complete"})

    async def _send_error(self, operation: Operation[SocketState, None], error: GraphQLError) -> None:
        with suppress(WebSocketDisconnected, KeyError):  # KeyError: the client has completed it
            await operation.send_initial_errors([error])

    async def handle_complete(self, message: CompleteMessage) -> None:
        """Stop an operation that the client completes."""
        await self.cleanup_operation(operation_id=message["id"])


def _too_many_operations(most: int) -> GraphQLError:
    return GraphQLError(
        f"A socket may run at most {most} operations at a time.",
        extensions={
            "code": "LIMITED",
            "limit": "operations_per_socket",
            "maximum": most,
            "retryable": True,
            "hint": "Complete one of them first, or open another socket.",
        },
    )


def _wrong_shape(message: object) -> str | None:
    """Return what is wrong with a frame's shape, as a reason to close; None if nothing is."""
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        return "A frame must be a JSON object with a string `type`"
    kind, payload = message["type"], message.get("payload")
    match kind:
        case "subscribe":
            return _wrong_id(message) or _wrong_payload(payload)
        case "complete":
            return _wrong_id(message)
        case "connection_init" | "ping" | "pong":
            return None if isinstance(payload, dict | None) else f"The payload of `{kind}` must be an object or null"
        case _:
            return f"There is no frame type `{excerpt(kind, 40)}`"


def _wrong_id(message: dict[str, object]) -> str | None:
    value = message.get("id")
    if isinstance(value, str) and 0 < len(value) <= 128:
        return None
    return f"The `id` of `{message['type']}` must be a string of 1 to 128 characters"


def _wrong_payload(payload: object) -> str | None:
    """Return what is wrong with the payload of `subscribe`."""
    if not isinstance(payload, dict) or not isinstance(payload.get("query"), str):
        return "The payload of `subscribe` must be an object with a string `query`"
    if not isinstance(payload.get("operationName"), str | None):
        return "`operationName` must be a string or null"
    for name in ("variables", "extensions"):
        if not isinstance(payload.get(name), dict | None):
            return f"`{name}` must be an object or null"
    return None
