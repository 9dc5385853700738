"""Middleware that stops addresses which keep presenting wrong tokens or login links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from app.auth.hosts import refuse
from app.auth.identity import CALLBACK_PATH, address_of, bearer_token
from resolvers.problems import Unavailable
from store.database.errors import StoreError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.auth.identity import Authenticator


#: Where browsers sign in: by a link, and sent back by a provider.
_SIGN_IN_PATHS = frozenset({"/login", CALLBACK_PATH})


class AttemptGate:
    """Answer 429 with Retry-After to an address with too many failures; a valid token still gets through.

    Otherwise one person's failures would lock out everybody behind the same address.
    """

    def __init__(self, app: ASGIApp, authenticator: Authenticator) -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        signs_in = scope["path"] in _SIGN_IN_PATHS
        throttle = self._authenticator.login_throttle if signs_in else self._authenticator.throttle
        if throttle.is_idle:
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        wait = throttle.wait_seconds(address_of(connection))
        if wait == 0 or (not signs_in and (not _may_guess(connection) or await self._is_known(connection))):
            await self._app(scope, receive, send)
            return
        seconds = math.ceil(wait)
        await refuse(
            scope,
            receive,
            send,
            429,
            f"Too many wrong {'login links' if signs_in else 'tokens'} came from this address. Wait {seconds} seconds.",
            [(b"retry-after", str(seconds).encode())],
        )

    async def _is_known(self, connection: HTTPConnection) -> bool:
        token = bearer_token(connection.headers.get("authorization"))
        cookie = connection.cookies.get(self._authenticator.cookie_name)
        try:
            if token is not None:
                return await self._authenticator.knows(token)
            return cookie is not None and await self._authenticator.knows_login(cookie)
        except (StoreError, Unavailable):
            return True  # Cannot decide while it is down; the surface answers 503.


def _may_guess(connection: HTTPConnection) -> bool:
    """Whether a request presents a token or a signature, or may do so later as a socket does.

    A browser opens pages, and goes to the provider, without either: wrong tokens of others must not keep it out.
    """
    if connection.scope["type"] != "http" or connection.scope["method"] not in ("GET", "HEAD"):
        return True
    return bearer_token(connection.headers.get("authorization")) is not None or "signature" in connection.query_params
