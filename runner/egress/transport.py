"""The guarded transport: every connection of every hop is opened by `GuardedBackend`, to a checked address.

There are two connection pools. Requests in the public pool obey the policy. Requests to an origin that the operator
configured as a service use the other one, so that a private connection opened for a service is never reused for a
request that may not use it.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import ipaddress
import socket
import ssl
from typing import TYPE_CHECKING, Any, Protocol, cast

import httpcore2
import httpx2

from runner import tracing
from runner.egress.policy import (
    CEILING_BYTES,
    CEILING_SECONDS,
    Address,
    EgressPolicy,
    is_public,
    not_an_address,
    origin_of,
    refusal,
)
from runner.egress.web_address import WebAddressError, read_web_address
from runner.failures import PackError, Remedy

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Collection, Iterable, Iterator
    from contextlib import AbstractContextManager

    from runner.egress.policy import Resolve
    from runner.tracing import Attribute, Span

_CONNECT_SECONDS = 5.0
_IDLE_SECONDS = 15.0
_DEADLINE = "packline_deadline"
_DECODED = "packline_decoded"
#: Compressions by their registered names (IANA, HTTP Content Coding Registry). Other names that servers send, such as
#: `none` and `utf-8`, are mistakes that browsers ignore.
_COMPRESSIONS = frozenset(
    "aes128gcm br compress dcb dcz deflate exi gzip pack200-gzip x-compress x-gzip zstd".split()  # noqa: SIM905 - shorter
)
_PORTS = "only ports 80 and 443 are open"


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Return a context with the system's certificates (or `SSL_CERT_FILE`, `SSL_CERT_DIR`); cached: 50 to 100 ms."""
    return httpcore2.default_ssl_context()


async def system_resolve(host: str, port: int) -> list[str]:
    """Resolve a host; return its addresses in the order to try them.

    Raises:
        OSError: it has none.
    """
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(cast("str", item[4][0]) for item in found))


class Connections:
    """The connection pools shared by all clients of one `Egress`."""

    def __init__(self, policy: EgressPolicy, resolve: Resolve | None) -> None:
        self._policy = policy
        self._resolve = resolve or system_resolve
        self._public: httpcore2.AsyncConnectionPool | None = None
        self._service: httpcore2.AsyncConnectionPool | None = None

    async def make_ready(self) -> None:
        """Prepare the TLS context in a thread: reading all certificates would block the event loop."""
        if self._public is None and self._service is None:
            await asyncio.to_thread(tls_context)

    def public_pool(self) -> httpcore2.AsyncConnectionPool:
        """Return the pool for requests that the policy decides on."""
        if self._public is None:
            self._public = _make_pool(GuardedBackend(self.checked_addresses))
        return self._public

    def service_pool(self) -> httpcore2.AsyncConnectionPool:
        """Return the pool for origins that the operator configured."""
        if self._service is None:
            self._service = _make_pool(GuardedBackend(functools.partial(self._addresses, remedy=Remedy.ASK_OPERATOR)))
        return self._service

    async def checked_addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return all addresses of a host, if every one of them is permitted.

        Raises:
            PackError: `policy_denied` when one is not, `upstream_unavailable` when there is none.
        """
        if not self._policy.may_permit_port(port):
            raise refusal(_PORTS, host, port)
        found = await self._addresses(host, port)
        name = host.lower().removesuffix(".")
        for text in found:
            address = _read_address(text)
            if address is None or not self._policy.permits(name, address, port):
                is_port = address is not None and is_public(address)
                raise refusal(_PORTS if is_port else "it is a private, local or reserved address", host, port)
        return found

    async def _addresses(self, host: str, port: int, *, remedy: Remedy = Remedy.CHANGE_INPUT) -> tuple[str, ...]:
        try:
            found = await self._resolve(host, port)
        except socket.gaierror as error:
            if error.errno == socket.EAI_AGAIN:
                raise PackError(
                    "upstream_unavailable",
                    f"The host name `{host}` could not be looked up.",
                    cause="The DNS that this server uses does not answer.",
                    hint="Check the network and the DNS settings of this server, then resume.",
                ) from error
            raise _unknown(host, remedy) from error
        except (OSError, UnicodeError) as error:
            raise _unknown(host, remedy) from error
        if not found:
            raise _unknown(host, remedy)
        return tuple(found)

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in (self._public, self._service):
            if pool is not None:
                await pool.aclose()
        self._public = self._service = None


def _unknown(host: str, remedy: Remedy) -> PackError:
    return PackError(
        "upstream_unavailable",
        f"The host name `{host}` was not found.",
        cause="DNS has no such name: it is misspelled, new, or known only in another network.",
        hint="Correct the address. If it is right, check the DNS settings of this server, then resume.",
        remedy=remedy,
    )


def _make_pool(backend: httpcore2.AsyncNetworkBackend) -> httpcore2.AsyncConnectionPool:
    return httpcore2.AsyncConnectionPool(
        ssl_context=tls_context(),
        max_connections=100,
        max_keepalive_connections=20,
        keepalive_expiry=5.0,
        network_backend=backend,
    )


def _read_address(text: str) -> Address | None:
    """Parse an address; None for one with a zone (`fe80::1%eth0`), which is never public."""
    try:
        return None if "%" in text else ipaddress.ip_address(text)
    except ValueError:
        return None


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects only to permitted addresses, never to a name."""

    def __init__(self, addresses: Resolve) -> None:
        self._addresses = addresses
        self._inner = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Try each address in turn; the timeout covers all of them together."""
        limit = _CONNECT_SECONDS if timeout is None else timeout
        try:
            async with asyncio.timeout(limit):
                addresses = await self._addresses(host, port)
                for number, address in enumerate(addresses, start=1):
                    share = limit if number == len(addresses) else limit / 2
                    try:
                        return await self._inner.connect_tcp(address, port, share, local_address, socket_options)
                    except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                        if number == len(addresses):
                            raise
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout from error
        raise httpcore2.ConnectError("no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Refuse Unix sockets."""
        raise PackError("policy_denied", f"Unix sockets are refused, here `{path}`.")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Picks the pool by the request's origin. Closing it leaves the pools open for other clients."""

    def __init__(self, connections: Connections, services: Collection[str], max_bytes: int) -> None:
        self._connections = connections
        self._services = services
        self._max_bytes = max_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request of a chain of redirects."""
        url = request.url
        # Parsed again here, because the library follows redirects by itself.
        origin = origin_of(f"{url.scheme}://{url.netloc.decode('ascii')}")
        _, host, port = origin
        named = url.netloc.decode("ascii")  # with the port, unless it is the scheme's
        is_service = any(origin == origin_of(service) for service in self._services)
        await self._connections.make_ready()
        pool = self._connections.service_pool() if is_service else self._connections.public_pool()
        with _call_span(request.method, host, port) as span, failures(named):
            answer = await pool.handle_async_request(
                httpcore2.Request(
                    method=request.method,
                    url=httpcore2.URL(scheme=url.raw_scheme, host=host.encode(), port=port, target=url.raw_path),
                    headers=_with_trace(request.headers),
                    content=cast("httpx2.AsyncByteStream", request.stream),
                    extensions=request.extensions,
                )
            )
            span.set("http.response.status_code", answer.status)
            if answer.status >= 400:
                span.fail(str(answer.status))
        max_bytes = _asked_for(request, "max_bytes", self._max_bytes, CEILING_BYTES)
        return CappedResponse(
            answer.status,
            headers=answer.headers,
            stream=_Body(cast("_CoreStream", answer.stream), named, int(max_bytes), request.extensions.get(_DEADLINE)),
            extensions={
                **answer.extensions,
                "packline_max_bytes": int(max_bytes),
                "packline_host": named,
                _DECODED: request.extensions.get(_DECODED, frozenset()),
            },
        )


def _call_span(method: str, host: str, port: int) -> AbstractContextManager[Span]:
    """Open the span of a request, without its path and query, in which addresses carry keys."""
    attributes: dict[str, Attribute] = {"http.request.method": method, "server.address": host, "server.port": port}
    return tracing.call_span(method, attributes)


def _with_trace(headers: httpx2.Headers) -> list[tuple[bytes, bytes]]:
    """Return the headers with the context of the span in progress, unless the pack has set one itself."""
    if tracing.TRACEPARENT in headers or not (carrier := tracing.carrier()):
        return headers.raw
    return [*headers.raw, *((name.encode(), value.encode()) for name, value in carrier.items())]


class _CoreStream(Protocol):
    """The body from httpcore."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def aclose(self) -> None: ...


class _Body(httpx2.AsyncByteStream):
    """The body as it arrives, up to the size limit and the deadline."""

    def __init__(self, stream: _CoreStream, host: str, max_bytes: int, deadline: float | None) -> None:
        self._stream = stream
        self._host = host
        self._max_bytes = max_bytes
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        parts = aiter(self._stream)
        with failures(self._host):
            while True:
                # Not around the `yield`: the timeout is for this await alone.
                async with asyncio.timeout_at(self._deadline):
                    part = await anext(parts, None)
                if part is None:
                    return
                seen += len(part)
                if seen > self._max_bytes:
                    raise _too_large(self._host, self._max_bytes)
                yield part

    async def aclose(self) -> None:
        with failures(self._host):
            await self._stream.aclose()


class CappedResponse(httpx2.Response):
    """Limits decoded bytes, so that a small compressed body cannot become a large one."""

    async def aiter_bytes(self, chunk_size: int | None = None) -> AsyncGenerator[bytes, None]:
        """Yield decoded bytes up to the size limit, at most 1 MiB at a time."""
        limit, host = self.extensions["packline_max_bytes"], self.extensions["packline_host"]
        codings = [coding.lower() for coding in self.headers.get_list("content-encoding", split_commas=True)]
        unknown = [coding for coding in codings if coding in _COMPRESSIONS - self.extensions[_DECODED]]
        if unknown and not self.is_error:
            raise PackError(
                "invalid_input",
                f"`{host}` sent its answer in the encoding `{unknown[0]}`, which was not asked for and cannot be read.",
                hint="Download it with another program and upload the file.",
            )
        seen = 0
        with failures(host):
            async with contextlib.aclosing(super().aiter_bytes(chunk_size)) as parts:
                async for part in parts:
                    seen += len(part)
                    if seen > limit:
                        raise _too_large(host, limit)
                    yield part


class GuardedClient(httpx2.AsyncClient):
    """A client on the guarded transport that ignores proxies and other settings of the environment."""

    def __init__(
        self,
        connections: Connections,
        services: Collection[str],
        *,
        max_bytes: int,
        total_seconds: float,
        max_redirects: int,
    ) -> None:
        super().__init__(
            transport=GuardedTransport(connections, services, max_bytes),
            trust_env=False,
            follow_redirects=True,
            max_redirects=max_redirects,
            timeout=httpx2.Timeout(min(_IDLE_SECONDS, total_seconds), connect=min(_CONNECT_SECONDS, total_seconds)),
            headers={"user-agent": "packline"},
        )
        self._total_seconds = total_seconds
        self._decoded = frozenset(coding.strip() for coding in self.headers["accept-encoding"].split(","))

    def build_request(self, method: str, url: httpx2.URL | str, **options: Any) -> httpx2.Request:  # noqa: ANN401 - passed on
        """Build a request from a URL as people paste it; a malformed one is `invalid_input`."""
        try:
            return super().build_request(method, read_web_address(str(url)).url, **options)
        except WebAddressError as error:
            raise not_an_address(error) from error

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:  # noqa: ANN401 - passed on
        """Send a request within the total time."""
        seconds = _asked_for(request, "total_seconds", self._total_seconds, CEILING_SECONDS)
        deadline = asyncio.get_running_loop().time() + seconds
        request.extensions = {**request.extensions, _DEADLINE: deadline, _DECODED: self._decoded}
        with failures(request.url.netloc.decode("ascii")):
            async with asyncio.timeout_at(deadline):
                return await super().send(request, **options)


def _asked_for(request: httpx2.Request, name: str, own: float, ceiling: float) -> float:
    """Return the limit from a request's extensions, up to the ceiling, or else the client's."""
    requested = request.extensions.get(name)
    return own if requested is None else min(requested, max(own, ceiling))


def _too_large(host: str, limit: int) -> PackError:
    return PackError(
        "resource_exhausted",
        f"The answer of `{host}` is larger than {limit:,} bytes.",
        hint="Ask for a smaller part of it.",
    )


@contextlib.contextmanager
def failures(host: str) -> Iterator[None]:
    """Convert the libraries' exceptions to `PackError`s that name the host, and the port where it is given."""
    try:
        yield
    except (TimeoutError, httpcore2.TimeoutException, httpx2.TimeoutException) as error:
        raise PackError("timeout", f"`{host}` did not answer in time.") from error
    except httpx2.TooManyRedirects as error:
        raise PackError(
            "resource_exhausted", f"`{host}` redirects too often.", hint="Give the last address."
        ) from error
    except (httpcore2.UnsupportedProtocol, httpx2.UnsupportedProtocol) as error:
        raise PackError("policy_denied", f"Only http and https are spoken: {error}") from error
    except (httpcore2.LocalProtocolError, httpx2.LocalProtocolError) as error:
        raise PackError("invalid_input", f"The request to `{host}` cannot be sent: {error}.") from error
    except httpx2.InvalidURL as error:
        raise PackError("upstream_unavailable", f"`{host}` redirects to what is not a URL: {error}.") from error
    except httpx2.DecodingError as error:
        message = f"The answer of `{host}` is not in the content encoding that it names: {_why(error)}."
        raise PackError("upstream_unavailable", message) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpx2.TransportError) as error:
        raise PackError("upstream_unavailable", f"`{host}` cannot be reached: {_why(error)}.") from error


def _why(error: BaseException) -> str:
    """Return the message of the first cause that has one."""
    cause: BaseException | None = error
    while cause is not None:
        match cause:
            case ssl.SSLCertVerificationError():
                return f"its certificate was not accepted ({cause.verify_message})"
            case ConnectionRefusedError():
                return "it refuses connections"
            case ConnectionResetError():
                return "it reset the connection"
        cause = cause.__cause__ or cause.__context__
    return str(error).rstrip(".") or type(error).__name__
