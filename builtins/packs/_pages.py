"""Pages of the web as plain text cut into passages, for packs that compare statements with what pages say."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import PackContext, PackError

from ._html import decode
from ._http import Fetched, checked_url, fetch
from ._markdown import tidy
from .web._extract import extract_page
from .web._robots import check_robots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._search import Hit

MAX_BYTES = 5 * 1024 * 1024
FETCH_SECONDS = 20.0
EXTRACT_SECONDS = 30.0
#: Longest text that is kept of one page.
PAGE_CHARS = 120_000
PASSAGE_CHARS = 700

_PAGES = frozenset({"text/html", "application/xhtml+xml", "application/xml", "text/xml", ""})
_TEXTS = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_MARKUP = re.compile(r"[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}|\\(?=[^\w\s])")
_LINE_START = re.compile(r"^\s*(?:#{1,6} +|[-*+] +|>+ ?)")
_RULE = re.compile(r"\s*(?:[-*_]\s*){3,}\Z|\s*\|?[\s:|-]+\|[\s:|-]*\Z")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'\u201d\u2019)]?\s+(?=[\"'\u201c\u2018(\[]?[^\W_a-z])|(?<=[\u3002\uff01\uff1f])")


@dataclass(frozen=True, slots=True)
class Page:
    """Something to read and to name as a source.

    Attributes:
        url: Where it was read, after redirects.
        title: Its title, or its address.
        published: Date of publication, as the page or the search has it.
        passages: Its text in order, plain, each at most about `PASSAGE_CHARS` long.
        is_whole: Whether the page itself was read; else this is only what the search said about it.
    """

    url: str
    title: str
    published: str | None
    passages: tuple[str, ...]
    is_whole: bool = True

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.passages)


async def read_page(ctx: PackContext, hit: Hit) -> Page:
    """Reads the page of a search result through the guard, as far as its robots.txt allows.

    Raises:
        PackError: as `fetch` and `check_robots`; `invalid_input` for what is no page or has no text.
    """

    async def allowed(address: str) -> None:
        await check_robots(ctx, address)

    answer = await fetch(
        ctx,
        checked_url(hit.url, field="url"),
        field=None,
        max_bytes=MAX_BYTES,
        timeout_seconds=FETCH_SECONDS,
        accept="text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8",
        before_hop=allowed,
        check_headers=_refuse_other_types,
    )
    title, published = hit.title, hit.published
    if answer.media_type in _TEXTS:
        markdown = tidy(decode(answer.body, answer.charset))
    else:
        found = await ctx.run_in_process(
            extract_page, answer.body, answer.charset, answer.url, os.getpid(), timeout_seconds=EXTRACT_SECONDS
        )
        markdown, title, published = found["markdown"], found["title"] or title, found["published"] or published
    passages = tuple(passages_of(markdown))
    if not passages:
        raise PackError("invalid_input", f"{answer.url} has no text on it.")
    return Page(answer.url, " ".join((title or answer.url).split())[:300], published, passages)


def page_of_hit(hit: Hit) -> Page:
    """What a search says about a page, for one that cannot be read."""
    return Page(hit.url, hit.title, hit.published, tuple(passages_of(hit.snippet)), is_whole=False)


def _refuse_other_types(answer: Fetched) -> None:
    if answer.media_type not in _PAGES | _TEXTS:
        raise PackError("invalid_input", f"{answer.url} is not a web page but `{answer.media_type}`.")


def passages_of(markdown: str) -> Iterator[str]:
    """The text of a page without markup, cut between paragraphs and sentences."""
    pending = ""
    for paragraph in _paragraphs(markdown[:PAGE_CHARS]):
        for piece in _pieces(paragraph):
            if pending and len(pending) + len(piece) + 1 > PASSAGE_CHARS:
                yield pending
                pending = ""
            pending = f"{pending} {piece}".strip()
        if len(pending) > PASSAGE_CHARS // 3:
            yield pending
            pending = ""
    if pending:
        yield pending


def _paragraphs(markdown: str) -> Iterator[str]:
    for block in re.split(r"\n[ \t]*\n", markdown):
        lines = [_plain(line) for line in block.split("\n") if not _RULE.match(line)]
        text = " ".join(line for line in lines if line)
        if re.search(r"\w", text):
            yield text if text[-1] in '.!?:;\u3002\uff01\uff1f"\u201d' or "\n" in block.strip() else f"{text}."


def _plain(line: str) -> str:
    text = _LINE_START.sub("", _LINK.sub(r"\1", line)).replace("|", " ").strip()
    return " ".join(_MARKUP.sub("", text).split())


def _pieces(paragraph: str) -> Iterator[str]:
    """Sentences, cut further where one is longer than a passage may be."""
    for sentence in _SENTENCE.split(paragraph):
        for start in range(0, len(sentence), PASSAGE_CHARS):
            if piece := sentence[start : start + PASSAGE_CHARS].strip():
                yield piece


def sentences_of(passage: str) -> list[str]:
    """The sentences of a passage."""
    return [sentence.strip() for sentence in _SENTENCE.split(passage) if sentence.strip()]
