"""Web search behind one function: a chain of providers with failover and a cache. Shared by every pack that searches.

SearXNG comes first where an operator has configured one (`PACKLINE_SERVICE_SEARXNG_URL`), since it covers the web.
Wikipedia needs no key and nothing to host, so it is always there: good for facts, poor for news, hence `coverage`.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, cast
from urllib.parse import urlencode

from packline import PackContext, PackError, WebAddressError, excerpt, read_web_address

from ._http import Fetched, fetch

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence
    from typing import TypeAlias

    JSONValue: TypeAlias = "bool | int | float | str | list[JSONValue] | dict[str, JSONValue] | None"

ProviderName = Literal["searxng", "wikipedia"]
Coverage = Literal["web", "encyclopedic"]

COVERAGE: dict[ProviderName, Coverage] = {"searxng": "web", "wikipedia": "encyclopedic"}
PUBLIC_WIKIPEDIA = "https://en.wikipedia.org/w/api.php"

KEEP_SECONDS = 24 * 3600.0
TIMEOUT_SECONDS = 15.0
MAX_BYTES = 2 * 1024 * 1024
#: CirrusSearch refuses longer queries.
WIKIPEDIA_QUERY_CHARS = 300
MAX_LIMIT = 20

#: Failures after which the next provider is asked; anything else is somebody's to put right.
_TRANSIENT = frozenset({"timeout", "rate_limited", "upstream_unavailable"})
_TAG = re.compile(r"<[^>]{0,200}>")


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `published` is as the provider writes it; texts are plain."""

    url: str
    title: str
    snippet: str
    published: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The answer of one provider, best hit first; `cached` when it was not asked just now."""

    hits: tuple[Hit, ...]
    provider: ProviderName
    cached: bool

    @property
    def coverage(self) -> Coverage:
        """What the provider knows about."""
        return COVERAGE[self.provider]


async def search(ctx: PackContext, query: str, limit: int, provider: ProviderName | None = None) -> Found:
    """The best results of the first provider that answers.

    A provider that cannot be reached, is too slow or wants fewer requests is passed over with a warning on the step.

    Args:
        ctx: The step.
        query: What to look for.
        limit: At most so many results, 1 to `MAX_LIMIT`.
        provider: Ask only this one.

    Raises:
        PackError: the first provider's failure when none answers; `invalid_input` for a provider that is not set up;
            `credential_invalid` for a SearXNG that does not give JSON.
    """
    chain = _chain(ctx, provider)
    failures: list[PackError] = []
    for name in chain:
        try:
            found = await _ask_cached(ctx, name, query, limit)
        except PackError as error:
            if error.failure.code not in _TRANSIENT:
                raise
            failures.append(error)
            continue
        if failures:
            ctx.warn(f"{failures[0].failure.message} {_LABELS[name]} was asked instead.")
        return found
    raise failures[0]


_LABELS: dict[ProviderName, str] = {"searxng": "SearXNG", "wikipedia": "Wikipedia"}


def _chain(ctx: PackContext, provider: ProviderName | None) -> Sequence[ProviderName]:
    has_searxng = ctx.service_url("searxng") is not None
    if provider == "searxng" and not has_searxng:
        raise PackError(
            "invalid_input",
            "No SearXNG is set up here.",
            field="provider",
            hint="Set PACKLINE_SERVICE_SEARXNG_URL to its address, or leave `provider` out.",
        )
    if provider is not None:
        return (provider,)
    return ("searxng", "wikipedia") if has_searxng else ("wikipedia",)


async def _ask_cached(ctx: PackContext, name: ProviderName, query: str, limit: int) -> Found:
    is_fresh = False

    async def ask() -> JSONValue:
        nonlocal is_fresh
        is_fresh = True
        hits = await (_ask_searxng(ctx, query) if name == "searxng" else _ask_wikipedia(ctx, query, limit))
        return [[hit.url, hit.title, hit.snippet, hit.published] for hit in hits]

    asked = "\0".join((_endpoint(ctx, name), str(limit), " ".join(query.split())))
    key = f"search:{name}:{hashlib.sha256(asked.encode()).hexdigest()}"
    rows = cast("list[list[str]]", await ctx.cached(key, KEEP_SECONDS, ask))
    return Found(tuple(_distinct(Hit(*row) for row in rows)[:limit]), name, cached=not is_fresh)


def _endpoint(ctx: PackContext, name: ProviderName) -> str:
    if name == "searxng":
        base = (ctx.service_url("searxng") or "").rstrip("/")
        return base if base.endswith("/search") else f"{base}/search"
    base = (ctx.service_url("mediawiki") or PUBLIC_WIKIPEDIA).rstrip("/")
    return base if base.endswith(".php") else f"{base}/w/api.php"


async def _ask_searxng(ctx: PackContext, query: str) -> list[Hit]:
    """SearXNG's search API (docs.searxng.org/dev/search_api.html)."""
    endpoint = _endpoint(ctx, "searxng")
    answer = await _get(ctx, endpoint, {"q": query, "format": "json", "categories": "general"}, keep_statuses=(403,))
    if answer.status == 403:
        raise PackError(
            "credential_invalid",
            f"SearXNG at {read_web_address(endpoint).host} refused access (HTTP 403).",
            hint="JSON is switched off in this SearXNG. In its settings.yml, set `search: formats: [html, json]` "
            "and restart it.",
        )
    data = _json_object(answer, "SearXNG")
    results = [result for result in _list(data.get("results")) if isinstance(result, dict)]
    if not results and _list(data.get("unresponsive_engines")):
        raise PackError("upstream_unavailable", "None of SearXNG's search engines answered.")
    return [
        Hit(
            _text(result.get("url")),
            _text(result.get("title")),
            _text(result.get("content")),
            _text(result.get("publishedDate")) or None,
        )
        for result in results
    ]


async def _ask_wikipedia(ctx: PackContext, query: str, limit: int) -> list[Hit]:
    """MediaWiki's action API: full-text search with the first section of each page as plain text."""
    parameters = {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "generator": "search",
        "gsrsearch": excerpt(query, WIKIPEDIA_QUERY_CHARS, ending=""),
        "gsrlimit": str(limit),
        "gsrnamespace": "0",
        "prop": "extracts|info",
        "inprop": "url",
        "exintro": "1",
        "explaintext": "1",
        "exlimit": str(limit),
    }
    answer = await _get(ctx, _endpoint(ctx, "wikipedia"), parameters)
    data = _json_object(answer, "Wikipedia")
    if isinstance(error := data.get("error"), dict):
        raise _mediawiki_failure(_text(error.get("code")), _text(error.get("info")))
    content = data.get("query")
    pages = [
        page for page in _list(content.get("pages") if isinstance(content, dict) else None) if isinstance(page, dict)
    ]
    pages.sort(key=lambda page: index if isinstance(index := page.get("index"), int) else MAX_LIMIT)
    return [
        Hit(_text(page.get("fullurl")), _text(page.get("title")), excerpt(_text(page.get("extract")), 4_000, ending=""))
        for page in pages
    ]


def _mediawiki_failure(code: str, info: str) -> PackError:
    """Errors come with status 200 (www.mediawiki.org/wiki/API:Errors_and_warnings)."""
    if code in ("maxlag", "ratelimited"):
        return PackError("rate_limited", f"Wikipedia wants fewer requests ({code}).", retry_after_seconds=5)
    if code.startswith("internal_api_error") or code == "readonly":
        return PackError("upstream_unavailable", f"Wikipedia failed: {info or code}.")
    return PackError("invalid_input", f"Wikipedia refused the query: {info or code}.", field="query")


async def _get(
    ctx: PackContext, endpoint: str, parameters: dict[str, str], keep_statuses: Container[int] = ()
) -> Fetched:
    separator = "&" if "?" in endpoint else "?"
    try:
        return await fetch(
            ctx,
            f"{endpoint}{separator}{urlencode(parameters)}",
            field=None,
            max_bytes=MAX_BYTES,
            timeout_seconds=TIMEOUT_SECONDS,
            accept="application/json",
            keep_statuses=keep_statuses,
        )
    except PackError as error:
        if error.failure.code != "upstream_unavailable":
            raise
        # The address is the operator's or ours, not the caller's to check.
        raise PackError(
            "upstream_unavailable",
            error.failure.message,
            hint="Is this server connected to the internet? PACKLINE_SERVICE_SEARXNG_URL names a service to search.",
            retry_after_seconds=error.failure.retry_after_seconds,
        ) from error


def _json_object(answer: Fetched, who: str) -> dict[str, JSONValue]:
    try:
        data = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise PackError(
            "upstream_unavailable",
            f"{who} at {read_web_address(answer.url).host} did not answer in JSON.",
            hint="Check that the configured address is the service itself and not a page in front of it.",
        ) from error
    return data if isinstance(data, dict) else {}


def _list(value: JSONValue) -> list[JSONValue]:
    return value if isinstance(value, list) else []


def _text(value: JSONValue) -> str:
    return " ".join(_TAG.sub("", value).split()) if isinstance(value, str) else ""


def _distinct(hits: Iterable[Hit]) -> list[Hit]:
    """Hits on web addresses, the first of each address, in the form that is requested."""
    seen: dict[str, Hit] = {}
    for hit in hits:
        try:
            address = read_web_address(hit.url)
        except WebAddressError:
            continue
        if hit.title and address.account is None:
            seen.setdefault(address.url.rstrip("/"), replace(hit, url=address.url))
    return list(seen.values())
