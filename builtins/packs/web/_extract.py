"""The readable part of a page as Markdown, by two extractors that check each other.

Measured: on pages with semantic markup trafilatura leaves boilerplate out best; on pages made of `div`s it loses
titles, headings and lists, which the rules keep. So its result is taken unless it lost too much of the structure or
the text that the rules found. Runs in a separate process.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypedDict

from packline import PackError

from .._html import absolute_link, make_links_absolute, page_facts, parse, to_markdown
from .._markdown import tidy
from .._page_text import TEXTS, has_markup, text_in
from .._process import limit_memory, limit_time
from ._rules import Block, main_block

if TYPE_CHECKING:
    from lxml.html import HtmlElement  # type: ignore[import-untyped]

#: Imported before the process is forked.
PRELOAD = ("trafilatura", "selectolax.lexbor", "markdownify")

Extractor = Literal["trafilatura", "rules", "none"]

#: Share of the rules' headings and list items that trafilatura must keep to be preferred (reference measurement).
STRUCTURE_KEPT = 0.6
#: Share of the rules' text that it must keep.
TEXT_KEPT = 0.4
#: Confidence when there is nothing to compare with: the page marks its content, or it does not.
MARKED_CONFIDENCE, GUESSED_CONFIDENCE = 0.7, 0.4

#: Processor time for one page. Measured: 4 MB of dense HTML take 20 s.
_CPU_SECONDS = 30

_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^#{1,4} +(.+)$", re.MULTILINE)
_LIST_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)]) \S", re.MULTILINE)
_FENCE = re.compile(r"^\s*(```|~~~)")
_MARKDOWN_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(https?://", re.IGNORECASE)
_COMPLEX = frozenset({"pre", "textarea", "script", "style"})


class Extracted(TypedDict):
    """What was found; plain data, since it crosses a process border.

    `confidence` is 0 to 1; `needs_javascript` is a page with scripts and next to no text.
    """

    markdown: str
    title: str | None
    byline: str | None
    published: str | None
    extractor: Extractor
    confidence: float
    links: int
    needs_javascript: bool


def extract_page(body: bytes, charset: str | None, media_type: str, url: str, server_process: int) -> Extracted:
    """The main content of a page, or all of a plain text; `server_process` is the one that asks, see `limit_memory`.

    Raises:
        PackError: `invalid_input` for what is not text, and for markup that is nested too deeply.
    """
    limit_memory(server_process)
    limit_time(server_process, _CPU_SECONDS)
    html = text_in(body, charset, media_type, url)
    if media_type in TEXTS or (not media_type and not has_markup(html)):
        return _plain_text(html)
    tree = parse(html)
    facts = page_facts(tree)
    scripts = len(tree.css("script"))
    by_trafilatura = _by_trafilatura(html, url)
    block = main_block(tree)
    by_rules = ""
    if block is not None:
        make_links_absolute(block.node, url)
        try:
            by_rules = to_markdown(block.node.html or "")
        except RecursionError:
            if not by_trafilatura:
                raise PackError("invalid_input", "The page is nested too deeply to be read.", field="url") from None
    markdown, extractor = _preferred(by_trafilatura, by_rules, block)
    markdown = _titled(markdown, facts.title)
    words = len(_WORD.findall(markdown))
    return Extracted(
        markdown=markdown,
        title=facts.title,
        byline=facts.byline,
        published=facts.published,
        extractor=extractor,
        confidence=_confidence(by_trafilatura, by_rules, block),
        links=len(_MARKDOWN_LINK.findall(markdown)),
        needs_javascript=scripts > 0 and words < 30,
    )


def _plain_text(text: str) -> Extracted:
    markdown = tidy(text)
    heading = next((line.lstrip("# ") for line in markdown.splitlines()[:20] if line.startswith("# ")), None)
    return Extracted(
        markdown=markdown,
        title=heading,
        byline=None,
        published=None,
        extractor="none",
        confidence=1.0,
        links=markdown.count("](http"),
        needs_javascript=False,
    )


def _by_trafilatura(html: str, url: str) -> str:
    """Its result, or nothing when the library is not installed or finds nothing."""
    try:
        import trafilatura
    except ImportError:
        return ""
    tree = trafilatura.load_html(html)
    if tree is None:
        return ""
    _collapse_white_space(tree)
    _make_links_absolute(tree, url)
    found = trafilatura.extract(
        tree,
        url=url,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_images=False,
        include_links=True,
        include_tables=True,
    )
    return _spaced(found or "")


def _make_links_absolute(tree: HtmlElement, url: str) -> None:
    """Links as they can be written in Markdown, before trafilatura writes them as they are."""
    for link in list(tree.iter("a")):
        target = link.get("href")
        if target is not None and (absolute := absolute_link(target, url)) != target:
            if absolute is None:
                link.tag = "span"
            else:
                link.set("href", absolute)


def _collapse_white_space(tree: HtmlElement) -> None:
    """White space as a browser shows it; otherwise line breaks of the source become breaks and indents of the text."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        inside = element.tag in _COMPLEX or any(parent.tag in _COMPLEX for parent in element.iterancestors())
        if element.text and not inside:
            element.text = re.sub(r"\s+", " ", element.text)
        if element.tail and not any(parent.tag in _COMPLEX for parent in element.iterancestors()):
            element.tail = re.sub(r"\s+", " ", element.tail)


def _spaced(markdown: str) -> str:
    """The same with an empty line after each fenced block, which trafilatura leaves out, and no trailing spaces."""
    lines: list[str] = []
    fenced = False
    for line in markdown.split("\n"):
        lines.append(line)
        if _FENCE.match(line):
            fenced = not fenced
            if not fenced:
                lines.append("")
    return tidy("\n".join(lines))


def _preferred(by_trafilatura: str, by_rules: str, block: Block | None) -> tuple[str, Extractor]:
    if not by_trafilatura:
        return by_rules, "rules" if by_rules else "none"
    if block is None or not by_rules:
        return by_trafilatura, "trafilatura"
    structure = block.headings + block.list_items
    kept_structure = len(_HEADING.findall(by_trafilatura)) + len(_LIST_ITEM.findall(by_trafilatura))
    lost_structure = structure >= 3 and kept_structure < STRUCTURE_KEPT * structure
    lost_text = block.characters > 500 and len("".join(by_trafilatura.split())) < TEXT_KEPT * block.characters
    return (by_rules, "rules") if lost_structure or lost_text else (by_trafilatura, "trafilatura")


def _confidence(by_trafilatura: str, by_rules: str, block: Block | None) -> float:
    """How far both agree: shared words over the words of the longer one."""
    if not by_trafilatura or not by_rules:
        if not by_trafilatura and not by_rules:
            return 0.0
        return MARKED_CONFIDENCE if block is not None and block.is_marked else GUESSED_CONFIDENCE
    first, second = (Counter(_WORD.findall(text.lower())) for text in (by_trafilatura, by_rules))
    return round((first & second).total() / max(first.total(), second.total(), 1), 2)


def _titled(markdown: str, title: str | None) -> str:
    """The Markdown with the title as first heading, unless a heading near its beginning says it already."""
    if not title or not markdown:
        return markdown
    wanted = _plain(title)
    first, _, rest = markdown.partition("\n\n")
    if _plain(first) == wanted:
        return f"# {title}\n\n{rest}"
    for heading in _HEADING.findall(markdown[:2_000])[:3]:
        said = _plain(heading)
        if said and (said in wanted or wanted in said):
            return markdown
    return f"# {title}\n\n{markdown}"


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))
