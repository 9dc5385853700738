"""`/a2a` over HTTP: authenticates callers, serves the agent card, and hands requests to the SDK.

The SDK takes a second to import, so the first request imports it, in a thread.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from dataclasses import replace
from http import HTTPStatus
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from app.a2a.pusher import Pusher
from app.auth.identity import bearer_token
from app.auth.refusals import unauthenticated
from app.graphql.wire import decode_json
from app.http.bodies import BodyTooLarge, announced_over, read_bounded, replaying
from app.http.origins import Origins
from app.mcp.session import Session
from resolvers.problems import ProblemCode
from schema.base.masking import public_answer
from store.states import RunCause

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.auth.identity import Authenticator
    from app.settings.server import Settings
    from resolvers.context import Caller, Context, Services
    from schema.guard.guarded_schema import GuardedSchema

    #: The SDK's application, and what makes the public card.
    _Server = tuple[ASGIApp, Callable[[str, str], bytes]]

#: Address of the endpoint, for JSON-RPC; HTTP+JSON has its addresses below it.
A2A_PATH: Final = "/a2a"
#: Addresses of the public card, of protocol 1.0 and of older clients.
CARD_PATHS: Final = ("/.well-known/agent-card.json", "/.well-known/agent.json")
#: Longest request body; larger inputs are uploaded as artifacts.
BODY_BYTES: Final = 1 << 20
#: Keys of the ASGI scope: a request's session, and the beginning of the server's addresses.
SESSION: Final = "packline.a2a.session"
BASE: Final = "packline.a2a.base"
_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_INTERNAL_ERROR: Final = -32603


class A2AMount:
    """The ASGI application behind `/a2a` and the agent card.

    Args:
        schema: What runs are read with.
        authenticator: Finds the caller.
        settings: Whether A2A is on, and the public address.
        make_context: Makes the context of use cases for a caller and a request.
        services: What push notifications are sent with; its version is the one on the card.
    """

    def __init__(
        self,
        schema: GuardedSchema,
        authenticator: Authenticator,
        settings: Settings,
        make_context: Callable[[Caller, Request], Context],
        services: Services,
    ) -> None:
        self._schema = schema
        self._authenticator = authenticator
        self._settings = settings
        self._make_context = make_context
        self._version = services.version
        self._pusher = Pusher(schema, services)
        self._origins = Origins(settings)
        self._stopping = asyncio.Event()
        self._importing: asyncio.Task[_Server] | None = None

    def routes(self) -> list[Route]:
        """Its addresses; none if A2A is off or the extra is not installed."""
        if not self._is_on:
            return []
        return [Route(path, self) for path in (*CARD_PATHS, A2A_PATH, f"{A2A_PATH}/{{rest:path}}")]

    @property
    def _is_on(self) -> bool:
        return self._settings.a2a and find_spec("a2a") is not None

    def start(self) -> None:
        """Start to send push notifications."""
        if self._is_on:
            self._pusher.start()

    async def stop(self) -> None:
        """Stop sending; safe to call twice and before `start`."""
        await self._pusher.stop()

    def begin_stopping(self) -> None:
        """End open streams, so that the server need not wait for them."""
        self._stopping.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            if scope["path"] in CARD_PATHS:
                answer: ASGIApp = await self._card(request)
            else:
                answer = await self._admit(scope, request)
                if (body := scope.pop(_BODY, None)) is not None:
                    receive = replaying(body, receive)
        except ClientDisconnect:
            return
        except Exception as error:
            message, extensions = public_answer(error, "request failed")
            is_away = extensions["code"] == ProblemCode.UNAVAILABLE
            answer = _problem(HTTPStatus.SERVICE_UNAVAILABLE if is_away else HTTPStatus.INTERNAL_SERVER_ERROR, message)
        await answer(scope, receive, send)

    async def _admit(self, scope: Scope, request: Request) -> ASGIApp:
        token = bearer_token(request.headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token)
        if caller is None:
            return _challenge(request, token)
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            return _problem(HTTPStatus.BAD_REQUEST, "The address contains the character U+0000. Remove it.")
        if (size := announced_over(request.headers.get("content-length"), BODY_BYTES)) is not None:
            return _too_large(f"{size:,} bytes")
        try:
            scope[_BODY] = await read_bounded(request, BODY_BYTES)
        except BodyTooLarge as large:
            refused = _too_large("a longer body")
            if large.is_unread:
                refused.headers["connection"] = "close"
            return refused
        if (fault := _fault_of(scope[_BODY])) is not None:
            refused = _problem(HTTPStatus.BAD_REQUEST, f"The body is not JSON that we can read: {fault}.", _PARSE_ERROR)
            if scope["path"] == A2A_PATH:
                refused.status_code = HTTPStatus.OK  # JSON-RPC clients read errors only there
            return refused
        if self._stopping.is_set():
            return _problem(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping. Try again in a moment.")
        context = self._make_context(caller, request)
        services = self._origins.services(request, context.services)
        context = replace(context, services=services, cause=RunCause.A2A)
        scope[SESSION] = Session(self._schema, context, watch=self._authenticator.watch)
        scope[BASE] = self._origins.base(request)
        return (await self._server())[0]

    async def _card(self, request: Request) -> Response:
        if request.method not in ("GET", "HEAD"):
            return Response(
                f"{request.url.path} accepts GET, HEAD, not {request.method}.\n",
                HTTPStatus.METHOD_NOT_ALLOWED,
                {"allow": "GET, HEAD"},
                "text/plain",
            )
        _, card_of = await self._server()
        card = card_of(self._origins.base(request), self._version)
        return Response(card, media_type="application/json", headers={"cache-control": "no-cache"})

    async def _server(self) -> _Server:
        if self._importing is None:
            self._importing = asyncio.create_task(self._import(), name="a2a server")
        return await asyncio.shield(self._importing)

    async def _import(self) -> _Server:
        module = await asyncio.to_thread(importlib.import_module, "app.a2a.server")
        return module.a2a_server(self._schema, self._stopping, self._pusher), module.public_card_json


#: Key of the ASGI scope for the body between reading and handing it on.
_BODY: Final = "packline.a2a.body"


def _challenge(request: Request, token: str | None) -> Response:
    message, headers = unauthenticated(request, token)
    text = f"{message} `packline token create` makes a token; see docs/a2a.md."
    answer = _problem(HTTPStatus.UNAUTHORIZED, text)
    answer.headers.update(headers)
    return answer


def _too_large(found: str) -> Response:
    return _problem(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        f"The request has {found}; the limit is {BODY_BYTES:,} bytes. Upload large files with POST /artifacts, and "
        "give a run their id.",
    )


def _fault_of(body: bytes) -> str | None:
    """Why a body cannot be read; the SDK's parser fails on deep nesting as if the server were broken."""
    if not body:
        return None
    try:
        decode_json(body)
    except json.JSONDecodeError as error:
        return str(error)
    return None


def _problem(status: HTTPStatus, message: str, code: int | None = None) -> Response:
    """A refusal as a JSON-RPC error: of any other body, the SDKs show their users only the status."""
    if code is None:
        code = _INTERNAL_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else _INVALID_REQUEST
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(orjson.dumps(body), status.value, media_type="application/json")
