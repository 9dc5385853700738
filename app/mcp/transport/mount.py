"""`/mcp` over HTTP: authenticates callers, and owns the SDK's server.

`mcp` takes most of a second to import, so a start does not import it. One task imports it in a thread once the process
is idle, or at the first request, which then waits for it. The same task enters and leaves the session manager, because
its scopes must not cross tasks. There is no state between requests: clients of the handshake versions get no sessions,
so a restart of the server breaks no client.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import time
from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

import orjson
import structlog
from starlette.requests import Request
from starlette.responses import Response

from app.auth.identity import bearer_token
from app.auth.refusals import unauthenticated
from app.http.bodies import announced_over
from app.http.origins import Origins
from app.mcp.session import Selection, SelectionError, Session
from app.mcp.transport.endings import CLIENT_HEADER, ENDING_HEADER, Endings
from app.mcp.transport.messages import INVALID_REQUEST, UPLOAD_INSTEAD
from app.mcp.uris import MCP_PATH
from resolvers.problems import ProblemCode
from schema.base.masking import public_answer
from store.states import RunCause, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as AsgiScope

    from app.auth.identity import Authenticator
    from app.mcp.transport.endings import ProgramKey
    from app.settings.server import Settings
    from resolvers.context import Caller, Context
    from schema.guard.guarded_schema import GuardedSchema

log = structlog.get_logger(__name__)

#: Addresses of the metadata for signing in (RFC 9728).
METADATA_PATHS: Final = frozenset(
    {"/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-protected-resource"}
)
#: The SDK is imported once the process has been idle this long, or at the first request.
IDLE_SECONDS: Final = 5.0
#: Most CPU, as a share of a core, of an idle process. An import during a thousand runs made each step a fifth slower.
IDLE_SHARE: Final = 0.02
#: Longest request body; larger inputs are uploaded as artifacts.
BODY_BYTES: Final = 4 << 20
#: Methods of requests; without sessions there is nothing to DELETE.
_METHODS: Final = ("GET", "POST")
#: JSON-RPC code of an error on the server.
_INTERNAL_ERROR: Final = -32603
#: Key of a request's session in its ASGI scope.
_SESSION: Final = "packline.mcp.session"
#: Key of the request's program in its ASGI scope, if the program named itself.
_PROGRAM: Final = "packline.mcp.program"


class McpMount:
    """The ASGI application behind `/mcp` and its metadata.

    Args:
        schema: The schema behind the tools.
        authenticator: Finds the caller.
        settings: The public address and the OpenID provider, for the metadata.
        make_context: Makes the context of use cases for a caller and a request.
    """

    def __init__(
        self,
        schema: GuardedSchema,
        authenticator: Authenticator,
        settings: Settings,
        make_context: Callable[[Caller, Request], Context],
    ) -> None:
        self._schema = schema
        self._authenticator = authenticator
        self._settings = settings
        self._origins = Origins(settings)
        self._make_context = make_context
        self._wanted = asyncio.Event()
        self._stopping = asyncio.Event()
        self._ready: asyncio.Future[ASGIApp] | None = None
        self._owner: asyncio.Task[None] | None = None
        self._endings = Endings()

    def start(self) -> None:
        """Start the task that owns the server; imports nothing yet."""
        self._ready = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(), name="mcp server")

    def begin_stopping(self) -> None:
        """End open streams, so that the server need not wait for them."""
        self._stopping.set()
        self._wanted.set()

    async def stop(self) -> None:
        """End the server; harmless twice and before `start`."""
        self.begin_stopping()
        owner, self._owner = self._owner, None
        if owner is not None:
            await owner

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        answer: ASGIApp
        program: ProgramKey | None = None
        try:
            if scope["path"] in METADATA_PATHS:
                answer = self._metadata(request)
            else:
                answer = await self._admit(scope, request)
                program = scope.get(_PROGRAM)
        except Exception as error:
            message, extensions = public_answer(error, "request failed")
            is_away = extensions["code"] == ProblemCode.UNAVAILABLE
            answer = _problem(HTTPStatus.SERVICE_UNAVAILABLE if is_away else HTTPStatus.INTERNAL_SERVER_ERROR, message)
        try:
            await answer(scope, receive, send)
        finally:
            if program is not None:
                self._endings.done(program)

    async def _admit(self, scope: AsgiScope, request: Request) -> ASGIApp:
        # The HTTP parser keeps white space after a value, which is not part of it (RFC 9110, 5.5).
        scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        headers = request.headers
        token = bearer_token(headers.get("authorization"))
        caller = await self._authenticator.authenticate(request, token, agents=True)
        if caller is None:
            return self._challenge(request, token)
        if request.method not in _METHODS:
            refused = _problem(HTTPStatus.METHOD_NOT_ALLOWED, f"{MCP_PATH} accepts GET and POST, not {request.method}.")
            refused.headers["allow"] = ", ".join(_METHODS)
            return refused
        try:
            selection = Selection.parse(scope["query_string"].decode("latin-1"), headers)
        except SelectionError as wrong:
            return _problem(HTTPStatus.BAD_REQUEST, str(wrong))
        if (size := announced_over(headers.get("content-length"), BODY_BYTES)) is not None:
            return _problem(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"The request has {size:,} bytes; the limit is {BODY_BYTES:,}. {UPLOAD_INSTEAD}",
            )
        if (ended := headers.get(ENDING_HEADER)) is not None:
            self._endings.end(caller.id, ended)
            return Response(status_code=HTTPStatus.ACCEPTED)
        context = self._make_context(caller, request)
        services = self._origins.services(request, context.services)
        context = replace(context, services=services, cause=RunCause.AGENT)
        session = Session(self._schema, context, selection, self._authenticator.watch)
        try:
            session.refuse_unknown_packs()
        except SelectionError as wrong:
            return _problem(HTTPStatus.BAD_REQUEST, str(wrong))
        self._wanted.set()
        assert self._ready is not None, "requests come after the start"
        ready = self._ready.result() if self._ready.done() else await asyncio.shield(self._ready)
        if self._stopping.is_set():
            return _problem(HTTPStatus.SERVICE_UNAVAILABLE, "The server is stopping. Try again in a moment.")
        if (begun := self._endings.begun(caller.id, headers.get(CLIENT_HEADER))) is not None:
            scope[_PROGRAM] = begun[0]
            session = replace(session, ending=begun[1])
        scope[_SESSION] = session
        return ready

    def _challenge(self, request: Request, token: str | None) -> Response:
        where = f"{self._origins.base(request)}/.well-known/oauth-protected-resource/mcp"
        message, headers = unauthenticated(request, token, metadata=where)
        text = f"{message} `packline token create` makes a token; see docs/agents.md."
        answer = _problem(HTTPStatus.UNAUTHORIZED, text)
        answer.headers.update(headers)
        return answer

    def _metadata(self, request: Request) -> Response:
        """The metadata of RFC 9728; with an OpenID provider, MCP clients find it here and sign in by themselves."""
        if request.method not in ("GET", "HEAD"):
            return Response(
                f"{request.url.path} accepts GET, HEAD, not {request.method}.\n",
                HTTPStatus.METHOD_NOT_ALLOWED,
                {"allow": "GET, HEAD"},
                "text/plain",
            )
        body: dict[str, object] = {
            "resource": f"{self._origins.base(request)}{MCP_PATH}",
            "resource_name": "Packline",
            "bearer_methods_supported": ["header"],
        }
        issuer = self._settings.oidc_issuer
        if issuer is None:
            body["scopes_supported"] = [scope.value for scope in Scope]
        else:
            body["authorization_servers"] = [issuer]
            body["scopes_supported"] = self._settings.oidc_request_scopes.split()
        return Response(orjson.dumps(body), media_type="application/json")

    async def _own(self) -> None:
        assert self._ready is not None, "`start` makes it"
        await wanted_or_idle(self._wanted, IDLE_SECONDS)
        if self._stopping.is_set():
            self._ready.cancel()
            return
        try:
            await asyncio.to_thread(importlib.import_module, "app.mcp.transport.http")
            from app.mcp.transport.http import http_server

            async with http_server(self._schema, _session_in, BODY_BYTES) as answer:
                self._ready.set_result(answer)
                await self._stopping.wait()
        except Exception as error:
            log.exception("could not start the MCP server")
            if not self._ready.done():
                self._ready.set_exception(error)


async def wanted_or_idle(
    wanted: asyncio.Event, seconds: float, cpu_seconds: Callable[[], float] = time.process_time
) -> None:
    """Return once `wanted` is set, or once the process was idle for `seconds`."""
    while not wanted.is_set():
        before = cpu_seconds()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(wanted.wait(), seconds)
        if cpu_seconds() - before <= seconds * IDLE_SHARE:
            return


def _session_in(scope: AsgiScope) -> Session:
    session: Session = scope[_SESSION]
    return session


def _problem(status: HTTPStatus, message: str) -> Response:
    """A refusal as a JSON-RPC error: of any other body, the SDKs show their users only the status."""
    code = _INTERNAL_ERROR if status >= HTTPStatus.INTERNAL_SERVER_ERROR else INVALID_REQUEST
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": message}}
    return Response(orjson.dumps(body), status.value, media_type="application/json")
