"""Which names the server may be called by, and which web pages may call it.

A page on the internet can make a browser talk to this machine, by its address or by a name that resolves to it (DNS
rebinding). The guard refuses requests for a host name that is not ours, and sockets and changes from another origin.
Programs that send no Origin pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.addresses import is_loopback, read_authority, read_host
from runner.egress.web_address import read_web_address
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.settings.server import Settings

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
#: Web pages have no other schemes.
_DEFAULT_PORTS = {"http": 80, "https": 443}
#: Host headers cached as ours; the bound keeps clients from growing the cache.
_CACHED_HOSTS = 256

_PAGE_POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; frame-ancestors 'none'; form-action 'self'; "
    "img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self' 'unsafe-inline'"
)
#: Sent with every answer that does not set them itself.
SECURITY_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    # Not `no-referrer`: with it, browsers send the forms of our own pages with `Origin: null`.
    (b"referrer-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", _PAGE_POLICY.encode()),
)


class HostGuard:
    """Middleware that refuses foreign host names and origins, and adds the security headers.

    Args:
        app: The application to guard.
        hosts: Names the server may be called by, without port, in addition to loopback; None for any.
        origins: Origins of other pages that may call it, such as `https://ops.example`.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] | None = (), origins: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(map(read_host, hosts))
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._known: set[bytes] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it with 400 (host) or 403 (origin)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        hosts = [value for name, value in scope["headers"] if name == b"host"]
        if (refusal := self._refusal(hosts)) is not None:
            await refuse(scope, receive, send, 400, refusal)
            return
        socket = scope["type"] == "websocket"
        if socket or scope["method"] not in _SAFE_METHODS:
            # Browsers send one; several, joined, match no allowed origin.
            origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
            origin = ", ".join(origins)
            if origins and not self._may_call(origin, hosts[0].decode("ascii")):
                await refuse(
                    scope,
                    receive,
                    send,
                    403,
                    f"Pages of {excerpt(origin, 200)} may not call this server. Add the origin to "
                    "PACKLINE_ALLOWED_ORIGINS to let them, or set PACKLINE_PUBLIC_URL when a proxy changes the host "
                    "name.",
                )
                return
        await self._app(scope, receive, send if socket else _with_headers(send))

    def _refusal(self, hosts: list[bytes]) -> str | None:
        """Why a request with these Host headers is not served; None when it is."""
        if len(hosts) != 1:  # RFC 9112 section 3.2
            return "The request names no host." if not hosts else "The request names its host more than once."
        host = hosts[0]
        if host in self._known:
            return None
        text = host.decode("latin-1")
        authority = read_authority(text)
        if authority is None:
            return (
                f"The Host header is malformed: {excerpt(text, 200)!r}. Send a name or address, with or without a "
                "port, such as `127.0.0.1:8420` or `[::1]:8420`."
            )
        if self._hosts is not None and not (is_loopback(authority.name) or authority.name in self._hosts):
            return (
                f"This server is not called {excerpt(text, 200)}. Use the address it printed at start, or add the name "
                "to PACKLINE_ALLOWED_HOSTS."
            )
        if len(self._known) < _CACHED_HOSTS:
            self._known.add(host)
        return None

    def _may_call(self, origin: str, host: str) -> bool:
        """Whether pages of an origin may change something: our own host's and those of allowed origins may."""
        if origin.lower() in self._origins:
            return True
        scheme, _, rest = origin.partition("://")
        # Both sides take the origin's scheme: behind a proxy that terminates TLS, ours would be http.
        default = _DEFAULT_PORTS.get(scheme.lower())
        theirs, ours = read_authority(rest), read_authority(host)
        if default is None or theirs is None or ours is None:
            return False
        return (theirs.name, theirs.port or default) == (ours.name, ours.port or default)


def guard_for(app: ASGIApp, settings: Settings) -> HostGuard:
    """A guard that allows the hosts and origins of the settings, the listening address and the public address."""
    hosts = [*settings.allowed_hosts]
    origins = [*settings.allowed_origins]
    if settings.host not in ("0.0.0.0", "::", "[::]"):
        hosts.append(settings.host)
    if settings.public_url:
        public = read_web_address(settings.public_url)
        hosts.append(public.host)
        origins.append(public.origin)
    return HostGuard(app, hosts=hosts, origins=origins)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    message: str,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Answer a request, or the handshake of a socket not yet accepted, with a sentence of plain text."""
    body = f"{message}\n".encode()
    fields = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode()), *headers]
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": excerpt(message, 120)})
            return
        await send({"type": "websocket.http.response.start", "status": status, "headers": fields})
        await send({"type": "websocket.http.response.body", "body": body})
        return
    await send({"type": "http.response.start", "status": status, "headers": [*fields, *SECURITY_HEADERS]})
    await send({"type": "http.response.body", "body": body})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            present = dict(message.get("headers", ()))
            missing = [pair for pair in SECURITY_HEADERS if pair[0] not in present]
            message = {**message, "headers": [*message.get("headers", ()), *missing]}
        await send(message)

    return sending
