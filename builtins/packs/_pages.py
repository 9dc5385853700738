"""Pages of the web as plain text cut into passages, for packs that compare statements with what pages say."""

from __future__ import annotations

import asyncio
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packline import PackContext, PackError, excerpt, read_web_address

from ._http import checked_url, fetch
from ._page_text import ACCEPT, refuse_other_types
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

#: Bounded, since pages are written by anybody: none may cost more than a few steps a character.
_LINK = re.compile(r"!?\[([^\[\]\n]{0,500})\]\([^()\n]{0,2000}\)")
_MARKUP = re.compile(r"[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}|\\(?=[^\w\s])")
_LINE_START = re.compile(r"(?:#{1,6} +|[-*+] +|\d{1,3}[.)] +|>+ ?)")
#: What encyclopedias put behind their sentences.
_FOOTNOTE = re.compile(r"\\?\[(?:\d{1,3}|[a-z]|note \d+|citation needed)\\?\]", re.IGNORECASE)
_RULE = re.compile(r"(?:[-*_][ \t]*){3,}\Z")
_ENDED = re.compile(r"[.!?\u3002\uff01\uff1f][\"'\u201d\u2019)]*\s*\Z")
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
        accept=ACCEPT,
        before_hop=allowed,
        check_headers=refuse_other_types,
    )
    found = await ctx.run_in_process(
        extract_page,
        *(answer.body, answer.charset, answer.media_type, answer.url, os.getpid()),
        timeout_seconds=EXTRACT_SECONDS,
    )
    is_page = found["extractor"] != "none"
    markdown = found["markdown"]
    title, published = (found["title"] if is_page else None) or hit.title, found["published"] or hit.published
    passages = await asyncio.to_thread(lambda: tuple(passages_of(markdown)))
    if not passages:
        raise PackError("invalid_input", f"{answer.url} has no text on it.")
    name = title or read_web_address(answer.url).readable
    return Page(answer.url, excerpt(" ".join(name.split()), 300, ending=""), published, passages)


def page_of_hit(hit: Hit) -> Page:
    """What a search says about a page, for one that cannot be read."""
    return Page(hit.url, hit.title, hit.published, tuple(passages_of(hit.snippet)), is_whole=False)


def passages_of(markdown: str) -> Iterator[str]:
    """The text of a page without inline markup, cut between lines and sentences.

    Headings keep a `# `, list items a `- ` and table rows their `|`, each on a separate line.
    """
    pending = ""
    for line in _lines(markdown[:PAGE_CHARS]):
        starts_new = line.startswith("# ") and len(pending) > PASSAGE_CHARS // 3
        joint = "\n"
        for piece in _pieces(line):
            if pending and (starts_new or len(pending) + len(piece) + 1 > PASSAGE_CHARS):
                yield pending
                pending = ""
            pending = f"{pending}{joint}{piece}" if pending else piece
            starts_new, joint = False, " "
    if pending and not re.fullmatch(r"# [^\n]*", pending):
        yield pending


def _lines(markdown: str) -> Iterator[str]:
    """Headings, list items, table rows and whole paragraphs, one after the other."""
    paragraph: list[str] = []
    for line in [*markdown.split("\n"), ""]:
        raw = line.strip()
        start = _LINE_START.match(raw)
        is_row = raw.startswith("|")
        text = _plain(raw)
        if paragraph and (start or is_row or not text):
            yield " ".join(paragraph)
            paragraph = []
        if _RULE.match(raw) or not re.search(r"\w", text):  # a row of dashes has no letters either
            continue
        if is_row:
            yield f"| {text} |"
        elif start:
            yield (
                f"{'#' if '#' in start.group() else '-'} {text}" if not start.group().lstrip().startswith(">") else text
            )
        else:
            paragraph.append(text)


def _plain(line: str) -> str:
    text = _FOOTNOTE.sub("", _LINE_START.sub("", _LINK.sub(r"\1", line))).strip().strip("|")
    return " ".join(_MARKUP.sub("", text).split())


def _pieces(line: str) -> Iterator[str]:
    """Sentences, cut further where one is longer than a passage may be."""
    for sentence in _SENTENCE.split(line):
        for start in range(0, len(sentence), PASSAGE_CHARS):
            if piece := sentence[start : start + PASSAGE_CHARS].strip():
                yield piece


def sentences_of(passage: str) -> list[str]:
    """Whole sentences of a passage; headings, table rows and list items without a full stop are left out."""
    found = []
    for line in passage.split("\n"):
        if not line.startswith(("# ", "| ")):
            found.extend(_SENTENCE.split(line.removeprefix("- ")))
    return [sentence.strip() for sentence in found if _ENDED.search(sentence)]
