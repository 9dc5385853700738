"""Web sites and search services on loopback that speak the real protocols, for packs that read the web.

SearXNG's JSON API and MediaWiki's action API are answered as their documentation has it, from a small collection of
articles, so that a test sees real requests being understood and not just any request being answered.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tests.support.loopback_http import Reply

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable, Mapping

    from tests.support.loopback_http import Request

    Route = Callable[[Request, asyncio.StreamWriter], Awaitable[Reply | None]]


@dataclass(frozen=True)
class Article:
    """Something to be found."""

    title: str
    text: str
    url: str = ""
    published: str | None = None


LIGHTHOUSE_ARTICLES = (
    Article(
        "Eddystone Lighthouse",
        "The Eddystone Lighthouse is on the Eddystone Rocks, 14 kilometres south of Rame Head in Cornwall, England. "
        "The third tower, designed by John Smeaton and lit in 1759, marked a step forward in lighthouse design and "
        "revived the use of hydraulic lime.",
        "https://search.example/eddystone",
        "2024-03-01T00:00:00",
    ),
    Article(
        "Fresnel lens",
        "A Fresnel lens is a composite compact lens developed by the French physicist Augustin-Jean Fresnel. The first "
        "one was used in 1823 in the Cordouan lighthouse at the mouth of the Gironde estuary.",
        "https://search.example/fresnel",
    ),
    Article(
        "Banana bread",
        "Banana bread is made from mashed bananas. It is a moist and sweet quick bread.",
        "https://search.example/banana",
    ),
)


def found(articles: tuple[Article, ...], query: str) -> list[Article]:
    """Articles that share a word of four letters or more with the query, most shared words first."""
    wanted = set(re.findall(r"\w{4,}", query.lower()))

    def shared(article: Article) -> int:
        return len(wanted & set(re.findall(r"\w{4,}", f"{article.title} {article.text}".lower())))

    return sorted((article for article in articles if shared(article)), key=shared, reverse=True)


def searxng(
    articles: tuple[Article, ...] = LIGHTHOUSE_ARTICLES, *, formats: tuple[str, ...] = ("html", "json")
) -> Route:
    """SearXNG's `/search` (https://docs.searxng.org/dev/search_api.html); 403 for a format that is not enabled."""

    async def search(request: Request, writer: asyncio.StreamWriter) -> Reply:
        del writer
        parameters = parse_qs(urlsplit(request.path).query)
        if parameters.get("format", ["html"])[0] not in formats:
            return Reply(b"<h1>403 Forbidden</h1>", 403, {"content-type": "text/html"})
        query = parameters.get("q", [""])[0]
        results = [
            {
                "url": article.url,
                "title": article.title,
                "content": article.text,
                "publishedDate": article.published,
                "engine": "duckduckgo",
                "engines": ["duckduckgo"],
                "score": 1.0,
                "category": "general",
            }
            for article in found(articles, query)
        ]
        answer = {"query": query, "number_of_results": 0, "results": results, "answers": [], "unresponsive_engines": []}
        return json_reply(answer)

    return search


def mediawiki(articles: tuple[Article, ...] = LIGHTHOUSE_ARTICLES) -> Route:
    """MediaWiki's `/w/api.php` for `action=query&generator=search` with extracts, `formatversion=2`."""

    async def api(request: Request, writer: asyncio.StreamWriter) -> Reply:
        del writer
        parameters = {key: values[0] for key, values in parse_qs(urlsplit(request.path).query).items()}
        if not request.headers.get("user-agent"):
            return Reply(b"Please set a user-agent", 403)
        if parameters.get("action") != "query" or parameters.get("generator") != "search":
            return json_reply({"error": {"code": "badvalue", "info": f"Unrecognized value for action: {parameters}"}})
        if parameters.get("format") != "json" or parameters.get("formatversion") != "2":
            return Reply(b"<html>MediaWiki API result</html>", 200, {"content-type": "text/html"})
        limit = int(parameters.get("gsrlimit", "10"))
        pages = [
            {
                "pageid": number,
                "ns": 0,
                "title": article.title,
                "index": number,
                "extract": article.text,
                "fullurl": f"https://en.wikipedia.example/wiki/{article.title.replace(' ', '_')}",
                "touched": "2026-01-01T00:00:00Z",
            }
            for number, article in enumerate(found(articles, parameters.get("gsrsearch", ""))[:limit], start=1)
        ]
        # The service lists pages by id, not by rank: `index` has the rank.
        return json_reply(
            {"batchcomplete": True, "query": {"pages": pages[::-1]}} if pages else {"batchcomplete": True}
        )

    return api


def json_reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Reply:
    """JSON as services send it."""
    return Reply(
        json.dumps(value).encode(), status, {"content-type": "application/json; charset=utf-8", **(headers or {})}
    )


def html_reply(html: str, *, charset: str | None = "utf-8", encode_as: str | None = None) -> Reply:
    """A page. `charset` is what the server declares, `encode_as` what it really is."""
    declared = f"; charset={charset}" if charset else ""
    return Reply(html.encode(encode_as or charset or "utf-8"), headers={"content-type": f"text/html{declared}"})


def robots_reply(*rules: str) -> Reply:
    """A robots.txt of these lines."""
    return Reply("\n".join(rules).encode(), headers={"content-type": "text/plain"})
