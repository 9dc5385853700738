"""The HTTP client of packs, which reaches only what the policy permits.

The transport is in `runner.egress.transport`, imported with the first client because importing httpx2 takes 0.1 s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

from runner.egress.policy import EgressPolicy, origin_of
from runner.excerpts import BODY_CHARACTERS, excerpt
from runner.failures import PackError, code_for_status

if TYPE_CHECKING:
    from collections.abc import Collection

    import httpx2

    from runner.egress.policy import Resolve
    from runner.egress.transport import Connections


MAX_BYTES = 5 * 1024 * 1024
TOTAL_SECONDS = 20.0
MAX_REDIRECTS = 5


@dataclass(slots=True)
class Egress:
    """Makes HTTP clients that enforce the policy and share their connections.

    Belongs to one event loop. Clients are cheap and may be made per step; closing one keeps the connections for the
    others. `aclose` closes all connections.

    Attributes:
        policy: The policy.
        resolve: Finds the addresses of a host; None for the system's resolver.
    """

    policy: EgressPolicy = field(default_factory=EgressPolicy)
    resolve: Resolve | None = None
    _connections: Connections | None = field(default=None, init=False, repr=False)

    def client(
        self,
        extra_allowed_origins: Collection[str] = (),
        *,
        max_bytes: int = MAX_BYTES,
        total_seconds: float = TOTAL_SECONDS,
        max_redirects: int = MAX_REDIRECTS,
    ) -> httpx2.AsyncClient:
        """Make a client whose failures are all `PackError`s.

        A request may set other limits with `extensions={"max_bytes": …, "total_seconds": …}`, up to
        `CEILING_BYTES` and `CEILING_SECONDS` (or the client's own, where larger).

        Args:
            extra_allowed_origins: `scheme://host:port` of services the operator configured; those alone may be
                private, on any port. Redirects away from them are checked like any other request. Read at each
                request, so the collection may grow.
            max_bytes: Largest body, after decoding.
            total_seconds: Longest time from the request to the last byte, redirects included.
            max_redirects: Redirects that are followed.
        """
        from runner.egress.transport import GuardedClient

        return GuardedClient(
            self._opened(),
            extra_allowed_origins,
            max_bytes=max_bytes,
            total_seconds=total_seconds,
            max_redirects=max_redirects,
        )

    def transport(
        self, extra_allowed_origins: Collection[str] = (), *, max_bytes: int = MAX_BYTES
    ) -> httpx2.AsyncBaseTransport:
        """Make a transport like that of `client`, for a library that makes its own client."""
        from runner.egress.transport import GuardedTransport

        return GuardedTransport(self._opened(), extra_allowed_origins, max_bytes)

    def _opened(self) -> Connections:
        from runner.egress.transport import Connections

        if self._connections is None:
            self._connections = Connections(self.policy, self.resolve)
        return self._connections

    async def check(self, url: str) -> tuple[str, ...]:
        """Return the addresses a URL may be fetched from.

        Raises:
            PackError: as a request to it would, up to the point of connecting.
        """
        _, host, port = origin_of(url)
        return await self.check_server(host, port)

    async def check_server(self, host: str, port: int) -> tuple[str, ...]:
        """Return the addresses at which a server may be reached, for programs that connect by themselves.

        Raises:
            PackError: as `check` does.
        """
        return await self._opened().checked_addresses(host, port)

    async def aclose(self) -> None:
        """Close all connections; does nothing before the first client or when called again."""
        connections, self._connections = self._connections, None
        if connections is not None:
            await connections.aclose()


def raise_for_status(response: httpx2.Response) -> httpx2.Response:
    """Return the response if its status is below 400.

    Raises:
        PackError: otherwise, with the code for the status; the message names the origin and quotes the first line of
            a text or JSON body. `detail` has the status, and the start of the body if it was read;
            `retry_after_seconds` is the server's `Retry-After`.
    """
    if not response.is_error:
        return response
    origin = response.request.url.netloc.decode("ascii")
    detail: dict[str, str | int] = {"status": response.status_code}
    said = ""
    if response.is_closed and response.is_stream_consumed:
        detail["body"] = body = excerpt(response.text, BODY_CHARACTERS)
        said = _quotation(response, body)
    answered = f"`{origin}` answered {response.status_code} {response.reason_phrase}".rstrip()
    raise PackError(
        code_for_status(response.status_code),
        f"{answered}: “{said}”." if said else f"{answered}.",
        hint=_STATUS_HINTS.get(_family(response.status_code)),
        retry_after_seconds=_retry_after_seconds(response.headers.get("retry-after")),
        detail=dict(detail),
    )


#: Longest quotation of a body in a message, in characters.
_QUOTED_CHARACTERS = 200
_STATUS_HINTS = {
    "access": "Check the credential and what it may do.",
    "missing": "Check what the input asks for, and the address.",
    "limit": "Wait, then try again.",
    "server": "Check the server at that address, then resume.",
}


def _quotation(response: httpx2.Response, body: str) -> str:
    """Return the beginning of a body that people can read, in one line; empty for pages and files."""
    kind = response.headers.get("content-type", "text/plain").partition(";")[0].strip().lower()
    is_readable = kind in ("text/plain", "application/json") or kind.endswith("+json")
    return excerpt(" ".join(body.split()), _QUOTED_CHARACTERS) if is_readable else ""


def _family(status: int) -> Literal["access", "missing", "limit", "server", "other"]:
    match status:
        case 401 | 403:
            return "access"
        case 404 | 410:
            return "missing"
        case 429:
            return "limit"
        case _ if status >= 500:
            return "server"
        case _:
            return "other"


def _retry_after_seconds(value: str | None) -> float | None:
    """Read `Retry-After`: seconds or an HTTP date (RFC 9110, 10.2.3); None when absent or malformed."""
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - datetime.now(UTC)).total_seconds())
