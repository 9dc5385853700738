"""Reads slide Markdown into a deck: headings, lists, tables, code, quotes and inline styles, nothing else.

Raw HTML is never interpreted: the few tags READMEs are full of are dropped, everything else shows as it was written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from ._deck import (
    Align,
    Block,
    Code,
    Deck,
    Item,
    Listing,
    Paragraph,
    Quote,
    Run,
    Runs,
    Subheading,
    Table,
    cut_runs,
    plain,
)
from ._layout import arrange
from ._split import split_slides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "maxNesting": 20}).enable(["table", "strikethrough"])
_LINE_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LAYOUT_TAG = re.compile(
    r"</?(?:a|b|center|details|div|em|i|img|kbd|p|picture|source|span|strong|sub|summary|sup|u)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_LINK_SCHEME = re.compile(r"(?:https?|mailto):", re.IGNORECASE)
_ATTRIBUTION = re.compile("\\s*(?:\u2014|\u2013|--)\\s*(?=\\S)")
_TASK = re.compile(r"\[([ xX])\]\s+")
_LISTING_DEPTH = 3


def read_deck(markdown: str, *, title: str | None = None, author: str | None = None, footer: str | None = None) -> Deck:
    """The deck `markdown` describes.

    Args:
        markdown: Slides separated by `---` lines.
        title: Title of the document; else the front matter's, else the first slide's.
        author: Author of the document; else the front matter's.
        footer: Line at the foot of the slides; else the front matter's, else the title.

    Returns:
        A deck with no slides at all when there is nothing to show.
    """
    raw = split_slides(markdown)
    reader = _Reader()
    drafts = [(reader.slide(part.markdown), part.layout, "\n\n".join(part.notes)) for part in raw.slides]
    drafts = [draft for draft in drafts if draft[0][0] or draft[0][1]]
    slides = tuple(
        arrange(heading, blocks, wanted=layout, notes=notes, number=index, count=len(drafts))
        for index, ((heading, blocks), layout, notes) in enumerate(drafts, start=1)
    )
    shown_title = title or raw.properties.get("title") or (plain(slides[0].title) if slides else "")
    return Deck(
        title=" ".join(shown_title.split()) or "Slides",
        slides=slides,
        author=author or raw.properties.get("author", ""),
        footer=footer if footer is not None else raw.properties.get("footer", " ".join(shown_title.split())),
        warnings=tuple(reader.warnings(by_headings=raw.by_headings)),
    )


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a running document; level 1 is the highest."""

    level: int
    runs: Runs


def read_document(markdown: str) -> list[Heading | Block]:
    """Headings and blocks of a running document in order; pictures and raw HTML are left out."""
    reader = _Reader()
    parts: list[Heading | Block] = []
    for node in SyntaxTreeNode(_MARKDOWN.parse(markdown)).children:
        if node.type == "heading":
            runs = reader.inline(node)
            if runs:
                parts.append(Heading(int(node.tag[1:]), runs))
        elif node.type == "code_block" and _is_prose(node.content):  # plain text with indented paragraphs
            parts.append(Paragraph(tidy_runs((Run(" ".join(node.content.split())),))))
        else:
            parts.extend(reader.blocks(node))
    return parts


def _is_prose(text: str) -> bool:
    """Whether indented text reads like sentences rather than code."""
    words = text.split()
    plain_words = sum(1 for word in words if word.strip(".,;:!?()'\"\u2019\u2014-").isalpha())
    return len(words) >= 8 and plain_words / len(words) > 0.85 and not re.search(r"[{}=<>|]|\w\(", text)


class _Reader:
    """Turns Markdown into blocks, counting what it has to leave out."""

    def __init__(self) -> None:
        self._images = 0

    def warnings(self, *, by_headings: bool) -> Iterable[str]:
        if by_headings:
            yield "There were no `---` lines between slides, so each heading of level 1 or 2 starts one."
        if self._images:
            noun = "picture was" if self._images == 1 else "pictures were"
            yield f"{self._images} {noun} left out: slides show text, tables and code only."

    def slide(self, markdown: str) -> tuple[Runs, tuple[Block, ...]]:
        """The heading (empty when there is none) and the blocks of one slide."""
        root = SyntaxTreeNode(_MARKDOWN.parse(markdown))
        heading: Runs = ()
        blocks: list[Block] = []
        for node in root.children:
            if node.type == "heading" and not heading:
                heading = self.inline(node)
            else:
                blocks.extend(self.blocks(node))
        return heading, tuple(blocks)

    def blocks(self, node: SyntaxTreeNode) -> Iterable[Block]:
        match node.type:
            case "heading":
                if runs := self.inline(node):
                    yield Subheading(runs)
            case "paragraph":
                if runs := self.inline(node):
                    yield Paragraph(runs)
            case "bullet_list" | "ordered_list":
                if listing := self._listing(node, depth=1):
                    yield listing
            case "fence" | "code_block":
                language = (node.info or "").split()[0].lower() if (node.info or "").strip() else ""
                text = node.content.rstrip("\n").expandtabs(4)
                if text.strip():
                    yield Code(text, re.sub(r"[^a-z0-9+#._-]", "", language)[:24])
            case "blockquote":
                yield from self._quote(node)
            case "table":
                yield self._table(node)
            case _:
                return

    def _quote(self, node: SyntaxTreeNode) -> Iterable[Block]:
        paragraphs: list[Runs] = []
        others: list[Block] = []
        for child in node.children:
            for block in self.blocks(child):
                if isinstance(block, Paragraph):
                    paragraphs.append(block.runs)
                else:
                    others.append(block)
        source: Runs = ()
        if paragraphs:
            paragraphs[-1], source = _split_attribution(paragraphs[-1])
            if not paragraphs[-1]:
                paragraphs.pop()
        if paragraphs:
            yield Quote(tuple(paragraphs), source)
        elif source:
            yield Paragraph(source)
        yield from others

    def _table(self, node: SyntaxTreeNode) -> Table:
        rows: list[tuple[Runs, ...]] = []
        aligns: list[Align] = []
        for section in node.children:
            for row in section.children:
                if not rows:
                    aligns = [_alignment(str(cell.attrs.get("style", ""))) for cell in row.children]
                rows.append(tuple(self.inline(cell) for cell in row.children))
        body = tuple(row for row in rows[1:] if any(row))
        for index in range(len(aligns)):
            cells = [plain(row[index]) for row in body]
            figures = [cell for cell in cells if cell]
            if (
                aligns[index] == "left"
                and figures
                and all(map(_is_figure, figures))
                and not all(map(_is_year, figures))
            ):
                aligns[index] = "right"
        return Table(rows[0], body, tuple(aligns))

    def _listing(self, node: SyntaxTreeNode, depth: int) -> Listing | None:
        items = tuple(item for child in node.children for item in self._items(child, depth))
        if not items:
            return None
        start = node.attrs.get("start", 1)
        return Listing(items, ordered=node.type == "ordered_list", start=int(start))

    def _items(self, node: SyntaxTreeNode, depth: int) -> Iterable[Item]:
        runs: list[Run] = []
        children: list[Listing] = []
        for child in node.children:
            if child.type in ("bullet_list", "ordered_list"):
                if nested := self._listing(child, depth + 1):
                    children.append(nested)
                continue
            text = self._flat(child)
            if text:
                runs.extend([Run("\n")] if runs else [])
                runs.extend(text)
        marked = _task_marks(tuple(runs))
        if depth >= _LISTING_DEPTH and children:  # deeper levels become their parent's siblings
            yield Item(marked)
            yield from (item for listing in children for item in listing.items)
        elif marked or children:
            yield Item(marked, tuple(children))

    def _flat(self, node: SyntaxTreeNode) -> Runs:
        """Everything in a list item except lists, as text."""
        if node.type in ("fence", "code_block"):
            return (Run(node.content.strip("\n").expandtabs(4), code=True),)
        if node.type in ("paragraph", "heading"):
            return self.inline(node)
        lines = [runs for child in node.children if (runs := self._flat(child))]
        return tuple(run for index, runs in enumerate(lines) for run in ((Run("\n"),) if index else ()) + runs)

    def inline(self, node: SyntaxTreeNode) -> Runs:
        """The styled text of a heading, paragraph or cell, without empty ends."""
        runs: list[Run] = []
        for child in node.children:
            if child.type == "inline":
                self._collect(child.children, Run(""), runs)
        return tidy_runs(runs)

    def _collect(self, nodes: Sequence[SyntaxTreeNode], style: Run, into: list[Run]) -> None:
        for node in nodes:
            match node.type:
                case "text":
                    into.append(_styled(style, _LAYOUT_TAG.sub("", _LINE_BREAK_TAG.sub("\n", node.content))))
                case "code_inline":
                    into.append(_styled(style, node.content, code=True))
                case "softbreak":
                    into.append(_styled(style, " "))
                case "hardbreak":
                    into.append(_styled(style, "\n"))
                case "strong":
                    self._collect(node.children, _styled(style, "", bold=True), into)
                case "em":
                    self._collect(node.children, _styled(style, "", italic=True), into)
                case "s":
                    self._collect(node.children, _styled(style, "", strike=True), into)
                case "link":
                    href = str(node.attrs.get("href", ""))
                    linked = _styled(style, "", href=href if _LINK_SCHEME.match(href) else None)
                    self._collect(node.children, linked, into)
                case "image":
                    self._images += 1
                case _:
                    into.append(_styled(style, node.content))


def _styled(
    style: Run,
    text: str,
    *,
    bold: bool = False,
    italic: bool = False,
    code: bool = False,
    strike: bool = False,
    href: str | None = None,
) -> Run:
    return Run(
        text, style.bold or bold, style.italic or italic, style.code or code, style.strike or strike, href or style.href
    )


def tidy_runs(runs: Iterable[Run]) -> Runs:
    """Joins neighbours of one style and trims the ends; the text of code stays as it is."""
    joined: list[Run] = []
    for run in runs:
        text = run.text if run.code else re.sub(r"[ \t\f\v\u00a0]+", " ", run.text)
        text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\u200b\ufeff]", "", text)
        if not text:
            continue
        if joined and _same_style(joined[-1], run):
            text = joined.pop().text + text
        joined.append(_styled(run, text))
    while joined and not joined[0].text.strip():
        joined.pop(0)
    while joined and not joined[-1].text.strip():
        joined.pop()
    if joined and not joined[0].code:
        joined[0] = _styled(joined[0], joined[0].text.lstrip())
    if joined and not joined[-1].code:
        joined[-1] = _styled(joined[-1], joined[-1].text.rstrip())
    return tuple(joined)


def _same_style(one: Run, other: Run) -> bool:
    return _styled(one, "") == _styled(other, "")


def _split_attribution(runs: Runs) -> tuple[Runs, Runs]:
    """A quote's last paragraph and whose words they are, when its last line says so after a dash."""
    text = plain(runs)
    if match := _ATTRIBUTION.match(text):
        return (), tidy_runs(cut_runs(runs, match.end(), len(text)))
    found = [
        m for m in re.finditer("\\s(?:\u2014|\u2013|--)\\s*(?=[^\\s\u2014\u2013-])", text) if len(text) - m.end() <= 60
    ]
    if found and re.search('[.!?\u2026"\u201d\u2019)]\\s*$', text[: found[-1].start()]):
        return tidy_runs(cut_runs(runs, 0, found[-1].start())), tidy_runs(cut_runs(runs, found[-1].end(), len(text)))
    return runs, ()


def _task_marks(runs: Runs) -> Runs:
    """`[ ]` and `[x]` at the start of an item as the marks they stand for."""
    if runs and not runs[0].code and (task := _TASK.match(runs[0].text)):
        mark = "\u2610" if task[1] == " " else "\u2713"
        return (_styled(runs[0], f"{mark} {runs[0].text[task.end() :]}"), *runs[1:])
    return runs


def _alignment(style: str) -> Align:
    wanted = style.removeprefix("text-align:").strip()
    return cast("Align", wanted) if wanted in ("left", "center", "right") else "left"


def _is_year(text: str) -> bool:
    return bool(re.fullmatch(r"1\d{3}|20\d{2}", text.strip()))


def _is_figure(text: str) -> bool:
    """Whether a cell holds an amount: digits with signs, separators and a short unit."""
    return bool(
        re.fullmatch(
            "[~\u2248<>\u2264\u2265\u00b1+\u2212-]?\\s?[$\u20ac\u00a3\u00a5]?\\d[\\d\\s.,:\u2009\u202f'/-]*\\s?(?:%|\u2030|[A-Za-z\u00b5\u00b0]{1,4}(?:/[A-Za-z]{1,4})?)?|[\u2013\u2014-]|n/a",
            text.strip(),
        )
    )
