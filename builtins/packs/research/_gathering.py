"""Find and read sources for a question: searches, the best hits of all of them, their pages."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode

from packline import PackContext, PackError, excerpt, read_web_address

from .._pages import Page, page_of_hit, read_page
from .._search import Found, Hit, search
from ..content._passages import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

HITS_PER_SEARCH = 8
READ_AT_ONCE = 4
#: A result's description of at least this length replaces a page that cannot be read.
SNIPPET_CHARS = 120
#: Pages that share this much of their word sequences are one text printed twice (w-shingling, Broder 1997).
SAME_TEXT = 0.6
_SHINGLE = 6

_NAME = re.compile(r"\b[A-Z\u00c0-\u00de][\w\u2019'-]+(?:\s+[A-Z\u00c0-\u00de][\w\u2019'-]+)*")
_JOINT = re.compile(r"\s+(?:and|or|vs\.?|versus|compared (?:to|with)|in contrast to)\s+|\s*[,;:/]\s+", re.IGNORECASE)
_TRACKING = re.compile(r"(?:utm_\w+|fbclid|gclid|mc_[ce]id|ref|igshid)\Z", re.IGNORECASE)


def plain_queries(question: str, count: int) -> list[str]:
    """What to search for without a model: the question, then its telling words, names and parts.

    Encyclopedias want all words of a query at once, so the later ones are short.
    """
    telling = [word for word in re.findall(r"[^\W_][\w'\u2019-]*", question) if terms(word)]
    names = [name for name in _NAME.findall(question) if terms(name)]
    parts = [" ".join(word for word in part.split() if terms(word)) for part in _JOINT.split(question)]
    wanted = [" ".join(question.split()), " ".join(telling[:5]), *names, *(part for part in parts if " " in part)]
    wanted += [" ".join(telling[start : start + 2]) for start in range(max(len(telling) - 1, 0))]
    distinct: dict[str, str] = {}
    for query in wanted:
        if query.strip():
            distinct.setdefault(" ".join(terms(query)) or query.lower(), excerpt(query.strip(" ?!."), 200, ending=""))
    return list(distinct.values())[:count]


async def search_all(ctx: PackContext, queries: Sequence[str]) -> tuple[list[Hit], Found]:
    """The hits of all searches, best first, each address once, and one of the answers.

    A search that fails is a warning as long as another one answers.

    Raises:
        PackError: the first failure when every search fails; `not_found` when nothing is found at all.
    """
    answers: list[Found] = []
    failures: list[PackError] = []
    for number, query in enumerate(queries):
        ctx.progress(0.05 + 0.2 * number / len(queries), f"Searching for {excerpt(query, 80)}")
        try:
            answers.append(await search(ctx, query, HITS_PER_SEARCH))
        except PackError as error:
            failures.append(error)
    if not answers:
        raise _unreachable(failures[0])
    for failed in failures:
        ctx.warn(f"One of {len(queries)} searches failed: {failed.failure.message}")
    hits = _best_first([answer.hits for answer in answers])
    if not hits:
        raise PackError(
            "not_found",
            f"Nothing was found for {' or '.join(f'`{query}`' for query in queries)}.",
            field="query",
            hint="Ask in other words, or more generally."
            + (_MORE_THAN_WIKIPEDIA if answers[0].coverage == "encyclopedic" else ""),
        )
    return hits, answers[0]


_MORE_THAN_WIKIPEDIA = (
    " Only Wikipedia was searched; with PACKLINE_SERVICE_SEARXNG_URL set to a SearXNG, the whole web is."
)


def _unreachable(error: PackError) -> PackError:
    failure = error.failure
    return PackError(
        failure.code,
        f"Nothing could be searched: {failure.message}",
        hint=failure.hint
        or "Wikipedia is asked unless PACKLINE_SERVICE_SEARXNG_URL names a SearXNG. Check that this server reaches it.",
        retry_after_seconds=failure.retry_after_seconds,
        detail=failure.detail,
    )


def _best_first(rankings: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Hits by the sum of their places in all rankings (reciprocal rank fusion, Cormack et al. 2009)."""
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for ranking in rankings:
        for place, hit in enumerate(ranking):
            address = canonical(hit.url)
            scores[address] = scores.get(address, 0.0) + 1 / (60 + place)
            hits.setdefault(address, hit)
    return [hits[address] for address, _ in sorted(scores.items(), key=lambda pair: -pair[1])]


def canonical(url: str) -> str:
    """One spelling of an address: no fragment, no tracking parameters, no `www.`, no final slash."""
    address = read_web_address(url)
    host = address.host.removeprefix("www.").removeprefix("m.")
    port = "" if address.port in (80, 443) else f":{address.port}"
    query = urlencode([(key, value) for key, value in parse_qsl(address.query or "") if not _TRACKING.match(key)])
    return f"//{host}{port}{address.path.rstrip('/')}{'?' if query else ''}{query}"


async def read_all(ctx: PackContext, hits: Sequence[Hit], most: int) -> list[Page]:
    """Pages of the best hits, at most `most`, in the order of the hits; a text that two sites print, once.

    Pages that cannot be read make room for the next hit; at most three times as many are tried. When there are too few
    then, the search results replace the others.
    """
    waiting = list(enumerate(hits[: most * 3]))
    pages: dict[int, Page] = {}
    unread: dict[int, Hit] = {}
    begun = 0

    async def read_some() -> None:
        nonlocal begun
        while waiting and len(pages) < most:
            place, hit = waiting.pop(0)
            begun += 1
            ctx.progress(0.25 + 0.45 * min(begun / max(most, 1), 1) * 0.95, f"Reading {excerpt(hit.title, 80)}")
            try:
                pages[place] = await read_page(ctx, hit)
            except PackError as error:
                unread[place] = hit
                ctx.log(f"{hit.url} is left out: {error.failure.message}")

    await asyncio.gather(*(read_some() for _ in range(min(READ_AT_ONCE, most))))
    for place, hit in sorted(unread.items()):
        if len(pages) < most and len(hit.snippet) >= SNIPPET_CHARS:
            pages[place] = page_of_hit(hit)
    distinct = (await asyncio.to_thread(_distinct, [pages[place] for place in sorted(pages)]))[:most]
    partial = sum(not page.is_whole for page in distinct)
    if partial:
        ctx.warn(
            f"{partial} of {len(distinct)} sources could not be read as pages; what the search says about them is used."
        )
    if not distinct:
        raise PackError(
            "upstream_unavailable",
            f"None of the {len(unread)} pages found could be read.",
            hint="The step's log says why each was left out. Try again later, or ask in other words.",
        )
    return distinct


def _distinct(pages: Sequence[Page]) -> list[Page]:
    kept: list[tuple[Page, frozenset[tuple[str, ...]]]] = []
    for page in pages:
        shingles = _shingles(page.text)
        same = (
            canonical(page.url) == canonical(other.url) or _alike(shingles, known) >= SAME_TEXT for other, known in kept
        )
        if not any(same):
            kept.append((page, shingles))
    return [page for page, _ in kept]


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = terms(text)[:4_000]
    return frozenset(tuple(words[start : start + _SHINGLE]) for start in range(max(len(words) - _SHINGLE + 1, 1)))


def _alike(one: frozenset[tuple[str, ...]], other: frozenset[tuple[str, ...]]) -> float:
    return len(one & other) / max(min(len(one), len(other)), 1)
