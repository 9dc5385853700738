"""Which names the server may be called by, and which web pages may call it.

A page on the internet can make a browser talk to this machine, by its address or by a name that resolves to it (DNS
rebinding). Requests for a host name that is not ours are refused, and so are sockets and changes that come from
another origin. Programs that send no Origin are not concerned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from app.addresses import is_loopback
from runner.excerpts import excerpt

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.settings import Settings

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
#: Host headers whose verdict is remembered; a client cannot make the memory grow beyond it.
_REMEMBERED = 256

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
        app: What is guarded.
        hosts: Names the server may be called by, without port, besides loopback.
        origins: Origins of other pages that may call it, such as `https://ops.example`.
    """

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str] = (), origins: Iterable[str] = ()) -> None:
        self._app = app
        self._hosts = frozenset(host.lower().strip("[]") for host in hosts)
        self._origins = frozenset(origin.lower().rstrip("/") for origin in origins)
        self._known: dict[bytes, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes the request on, or refuses it with 400 (host) or 403 (origin)."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        host = origin = None
        for name, value in scope["headers"]:
            if name == b"host":
                host = value
            elif name == b"origin":
                origin = value
        socket = scope["type"] == "websocket"
        if host is None or not self._is_ours(host):
            await refuse(scope, receive, send, 400, self._foreign_host(host))
            return
        if (
            origin is not None
            and (socket or scope["method"] not in _SAFE_METHODS)
            and not self._may_call(origin.decode("latin-1"), host.decode("latin-1"), scope["scheme"])
        ):
            await refuse(
                scope,
                receive,
                send,
                403,
                f"Pages of {excerpt(origin.decode('latin-1'), 200)} may not call this server. Add the origin to "
                "PACKLINE_ALLOWED_ORIGINS to let them, or set PACKLINE_PUBLIC_URL when a proxy changes the host name.",
            )
            return
        await self._app(scope, receive, send if socket else _with_headers(send))

    def _is_ours(self, host: bytes) -> bool:
        verdict = self._known.get(host)
        if verdict is None:
            try:
                name = urlsplit(f"//{host.decode('ascii')}").hostname or ""
            except ValueError:
                name = ""
            verdict = bool(name) and (is_loopback(name) or name in self._hosts)
            if len(self._known) < _REMEMBERED:
                self._known[host] = verdict
        return verdict

    def _may_call(self, origin: str, host: str, scheme: str) -> bool:
        if origin.lower() in self._origins:
            return True
        try:
            theirs = urlsplit(origin)
            # The scheme is the origin's on both sides: behind a proxy that ends TLS ours would say http.
            ours = urlsplit(f"{theirs.scheme or scheme}://{host}")
            default = _DEFAULT_PORTS.get(theirs.scheme)
            return bool(theirs.hostname) and (theirs.hostname, theirs.port or default) == (
                ours.hostname,
                ours.port or default,
            )
        except ValueError:
            return False

    def _foreign_host(self, host: bytes | None) -> str:
        if host is None:
            return "The request names no host."
        return (
            f"This server is not called {excerpt(host.decode('latin-1'), 200)}. Use the address it printed at start, "
            "or add the name to PACKLINE_ALLOWED_HOSTS."
        )


def guard_for(app: ASGIApp, settings: Settings) -> HostGuard:
    """The guard that fits the settings: their hosts, the address listened on and the public address."""
    hosts = [*settings.allowed_hosts]
    origins = [*settings.allowed_origins]
    if settings.host not in ("0.0.0.0", "::", "[::]"):
        hosts.append(settings.host)
    if settings.public_url:
        public = urlsplit(settings.public_url)
        hosts.append(public.hostname or "")
        origins.append(f"{public.scheme}://{public.netloc}")
    return HostGuard(app, hosts=hosts, origins=origins)


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    message: str,
    headers: Iterable[tuple[bytes, bytes]] = (),
) -> None:
    """Answers a request, or an unaccepted socket's handshake, with a sentence of plain text."""
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
