"""One GET for packs that read the web: bounded in time, size and redirects, with failures that blame the right side.

The client it is given refuses private addresses at every hop and keeps the limits; this adds what a reader needs on
top: a look at each new origin before it is asked (robots.txt), and at the headers before the body is read.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote

from packline import PackContext, PackError, WebAddressError, raise_for_status, read_web_address

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container

    import httpx2

    from packline import WebAddress

#: Sent to every server as `User-Agent`, and the name that robots.txt rules are matched against.
AGENT_TOKEN = "Packline"
USER_AGENT = f"{AGENT_TOKEN}/1.0 (self-hosted pipeline platform; one page at a time, on request)"

MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class Fetched:
    """An answer that was read to its end.

    Attributes:
        url: Where it came from after redirects, without fragment.
        status: HTTP status, 200 to 299 or one of those asked for.
        media_type: From `Content-Type`, lower case, without parameters; empty when the server named none.
        charset: From `Content-Type`; None when not given.
        body: Decoded content.
    """

    url: str
    status: int
    media_type: str
    charset: str | None
    body: bytes

    @property
    def file_name(self) -> str:
        """Last part of the path, in letters where it is made of them; may be empty."""
        escaped = read_web_address(self.url).path.rpartition("/")[2]
        name = unquote(escaped)
        return name if name.isprintable() and "/" not in name else escaped


def checked_url(url: str, *, field: str, base: str | None = None) -> str:
    """The address in the form that is requested, as `checked_address` reads it."""
    return checked_address(url, field=field, base=base).url


def checked_address(url: str, *, field: str, base: str | None = None) -> WebAddress:
    """The address in a text, once it is one that can be fetched.

    Args:
        url: As somebody gave it.
        field: The input field to blame.
        base: Address of the answer that redirects to it.

    Raises:
        PackError: `invalid_input` for anything but http and https with a host, and for addresses carrying a password.
    """
    try:
        address = read_web_address(url, base=base)
    except WebAddressError as error:
        message = f"{error}." if base is None else f"{_host(base)} redirects to what cannot be read: {error}."
        raise PackError("invalid_input", message, field=field, hint=error.hint) from error
    if address.account is not None:
        raise PackError(
            "invalid_input",
            f"The address of {address.host} carries a user name or password.",
            field=field,
            hint="Leave the credentials out; addresses are stored and shown.",
        )
    return address


async def fetch(
    ctx: PackContext,
    url: str,
    *,
    field: str | None,
    max_bytes: int,
    timeout_seconds: float,
    accept: str = "*/*",
    keep_statuses: Container[int] = (),
    before_hop: Callable[[str], Awaitable[None]] | None = None,
    check_headers: Callable[[Fetched], None] | None = None,
) -> Fetched:
    """Reads one address, following at most five redirects.

    Args:
        ctx: The step; its client does the work.
        url: Already through `checked_url`.
        field: The input field to blame.
        max_bytes: Longest body, counted after decompression.
        timeout_seconds: For everything together, redirects included.
        accept: The `Accept` header.
        keep_statuses: 4xx and 5xx answers to return instead of failing.
        before_hop: Called with each address on another origin than the last one before it is asked.
        check_headers: Called with the answer, body still empty, before the body is read; may raise.

    Raises:
        PackError: by status (docs/failures.md); `timeout`; `upstream_unavailable`; `resource_exhausted` for a
            body over `max_bytes`; `invalid_input` for a bad address or a redirect loop; `policy_denied` from the guard.
    """
    try:
        async with asyncio.timeout(timeout_seconds):
            return await _follow(
                ctx, url, field, max_bytes, timeout_seconds, accept, keep_statuses, before_hop, check_headers
            )
    except TimeoutError as error:
        raise PackError(
            "timeout", f"{_host(url)} did not answer completely within {timeout_seconds:g} seconds.", field=field
        ) from error
    except PackError as error:
        raise blamed_on(field, error) from error


def blamed_on(field: str | None, error: PackError) -> PackError:
    """The same failure with the input field at fault, unless one is already named or none is to blame."""
    failure = error.failure
    if field is None or failure.field is not None:
        return error
    return PackError.of(replace(failure, field=field))


async def _follow(
    ctx: PackContext,
    url: str,
    field: str | None,
    max_bytes: int,
    timeout_seconds: float,
    accept: str,
    keep_statuses: Container[int],
    before_hop: Callable[[str], Awaitable[None]] | None,
    check_headers: Callable[[Fetched], None] | None,
) -> Fetched:
    asked_origin = None
    limits = {"max_bytes": max_bytes, "total_seconds": timeout_seconds}
    for _ in range(MAX_REDIRECTS + 1):
        if before_hop is not None and origin_of(url) != asked_origin:
            await before_hop(url)
        asked_origin = origin_of(url)
        headers = {"User-Agent": USER_AGENT, "Accept": accept, "Accept-Language": "en, *;q=0.5"}
        async with ctx.http.stream("GET", url, headers=headers, follow_redirects=False, extensions=limits) as response:
            location = response.headers.get("location")
            if response.status_code in _REDIRECTS and location:
                url = checked_url(location, field=field or "url", base=url)
                continue
            if not response.is_success and response.status_code not in keep_statuses:
                raise failure_for_answer(response, field=field)
            answer = Fetched(url, response.status_code, *_content_type(response), b"")
            if check_headers is not None:
                check_headers(answer)
            return replace(answer, body=await response.aread())
    raise PackError(
        "invalid_input",
        f"{_host(url)} redirected more than {MAX_REDIRECTS} times.",
        field=field,
        hint="Open the address in a browser and give the one it ends at.",
    )


def failure_for_answer(response: httpx2.Response, *, field: str | None, hint: str | None = None) -> PackError:
    """What an answer that is no page means for the step: with the code of its status, in words for a reader of pages.

    Args:
        response: Not a success.
        field: The input field to blame.
        hint: What to do next, where the caller knows better; a refusal then has the usual cause and remedy.
    """
    url, status = str(response.request.url), response.status_code
    host = _host(url)
    try:
        raise_for_status(response)
    except PackError as error:
        failure = error.failure
    else:
        return PackError("invalid_input", f"{host} answered HTTP {status} for {url}.", field=field, hint=hint)
    cause = remedy = None
    match failure.code:
        case "credential_invalid":
            said = f"{host} refused access (HTTP {status})"
            if hint is None:
                hint = "Give an address that is open to the public."
                cause, remedy = "The page needs a login or refuses programs.", "change_input"
        case "not_found":
            said = f"There is nothing at {url} (HTTP {status})"
            hint = hint or "Check the address in a browser."
        case "timeout":
            said = f"{host} took too long (HTTP {status})"
        case "rate_limited":
            said = f"{host} wants fewer requests (HTTP {status})"
        case "upstream_unavailable":
            said = f"{host} failed (HTTP {status})"
        case _:
            said = f"{host} answered HTTP {status} for {url}"
    return PackError(
        failure.code,
        f"{said}.",
        field=field,
        cause=cause,
        hint=hint,
        remedy=remedy,
        retry_after_seconds=failure.retry_after_seconds,
    )


def origin_of(url: str) -> str:
    """Scheme, host and port of an address: the part robots.txt belongs to."""
    return read_web_address(url).origin


def _content_type(response: httpx2.Response) -> tuple[str, str | None]:
    value = response.headers.get("content-type", "")
    return value.partition(";")[0].strip().lower(), response.charset_encoding


def _host(url: str) -> str:
    return read_web_address(url).host
