"""Takes a running text apart: its title, what introduces it, and its sections with their content.

Works on Markdown and on plain text, whose headings are short lines without a full stop. What belongs to a web page
rather than to its text (navigation, licence, link collections) is set aside.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from ._deck import Block, Listing, Paragraph, Runs, Table, block_texts, plain
from ._digest import shorten, split_sentences
from ._markdown import Heading, read_document

_FRONT_MATTER = re.compile(
    r"\A\ufeff?\s*---[ \t]*\n((?:[A-Za-z_][\w-]*[ \t]*:.*\n|[ \t]+.*\n|-.*\n|\n)*)---[ \t]*(?:\n|\Z)"
)
_BYLINE = re.compile("(?:by|von|par|author:?|published|posted|updated|last updated)\\b.{0,90}\\Z", re.IGNORECASE)
_CAPTION = re.compile(r"(?:table|figure|fig\.|listing|tabelle|abbildung)\s*\d+[.:]?\s*", re.IGNORECASE)
_ASIDE_TITLES = frozenset(
    ("contents", "table of contents", "see also", "external links", "further reading", "navigation", "navigation menu",
    "license", "licence", "comments", "leave a comment", "share", "share this", "related posts", "related articles",
    "about the author", "about the authors", "acknowledgements", "acknowledgments", "copyright", "imprint", "sitemap",
    "agenda", "subscribe", "newsletter", "cookies", "cookie policy", "privacy policy", "menu", "footer")
)  # fmt: skip
_SOURCE_TITLES = frozenset(("sources", "references", "bibliography", "notes and references", "citations", "footnotes"))
_SUMMARY_TITLES = re.compile(
    r"(?:key |main )?(?:takeaways?|conclusions?|summary|key points|in summary|wrap[- ]?up|tl;?dr|final thoughts)\W*\Z",
    re.I,
)


@dataclass(slots=True)
class Section:
    """A heading and the text under it, up to the next heading.

    Attributes:
        title: Its heading.
        level: 1 for the document's own sections, 2 for those inside them, and so on.
        blocks: Its content without deeper sections.
        parent: Title of the section it lies in, or empty.
        captions: What tables are called, by their place in `blocks`.
    """

    title: Runs
    level: int
    blocks: list[Block] = field(default_factory=list)
    parent: str = ""
    captions: dict[int, Runs] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The heading without styles."""
        return plain(self.title)

    @property
    def words(self) -> int:
        """Words in its content."""
        return sum(len(text.split()) for block in self.blocks for text in block_texts(block))

    @property
    def is_sources(self) -> bool:
        """Whether it lists where things come from."""
        return _key(self.name) in _SOURCE_TITLES

    @property
    def is_summary(self) -> bool:
        """Whether it sums up the rest."""
        return bool(_SUMMARY_TITLES.match(self.name.strip()))


@dataclass(slots=True)
class Source:
    """A text taken apart.

    Attributes:
        title: Its own title, or its first sentence.
        subtitle: A short line under the title, or empty.
        author: From its front matter or byline, or empty.
        intro: The text before the first section; its title is empty.
        sections: In order.
        left_out: Names of sections set aside.
        headed: Whether the text has headings.
    """

    title: Runs
    subtitle: Runs
    author: str
    intro: Section
    sections: list[Section]
    left_out: list[str]
    headed: bool


def read_source(text: str) -> Source:
    """Takes `text` apart; `sections` and `intro.blocks` are both empty when it holds nothing."""
    properties, body = _front_matter(text)
    parts = read_document(_with_paragraphs(_without_comments(body)))
    if not any(isinstance(part, Heading) for part in parts):
        parts = [_guessed_heading(parts, index) for index in range(len(parts))]
    title, parts = _take_title(parts)
    headed = any(isinstance(part, Heading) for part in parts)
    intro, sections = _grouped(parts)
    subtitle, author = _take_front(intro)
    if not subtitle and sections and len(intro.blocks) == 1 and isinstance(intro.blocks[0], Paragraph):
        sentences = split_sentences(intro.blocks[0].runs)
        if len(sentences) == 1 and len(sentences[0].text) <= 140:
            subtitle = shorten(sentences[0].runs, 140)
            intro.blocks.clear()
    left_out = [section.name for section in sections if _key(section.name) in _ASIDE_TITLES and section.blocks]
    sections = [section for section in sections if _key(section.name) not in _ASIDE_TITLES]
    for section in (intro, *sections):
        _attach_captions(section)
    if not title and properties.get("title"):
        title = _text_runs(properties["title"])
    if not title:
        title = _first_sentence(intro, sections)
    return Source(title, subtitle, properties.get("author", "") or author, intro, sections, left_out, headed)


def _front_matter(text: str) -> tuple[dict[str, str], str]:
    clean = text.replace("\r\n", "\n").replace("\r", "\n")
    match = _FRONT_MATTER.match(clean)
    if match is None or ":" not in match[1]:
        return {}, clean
    properties = {}
    for line in match[1].splitlines():
        key, colon, value = line.partition(":")
        if colon and not line.startswith((" ", "\t", "-")):
            properties[key.strip().lower()] = value.strip().strip("'\"")
    return properties, clean[match.end() :]


def _without_comments(text: str) -> str:
    """Text without HTML comments, fenced code left as it is."""
    pieces = re.split(r"(?m)(^ {0,3}(?:```|~~~)[\s\S]*?(?:^ {0,3}(?:```|~~~)[ \t]*$|\Z))", text)
    return "".join(
        piece if index % 2 else re.sub(r"<!--.*?-->", "", piece, flags=re.S) for index, piece in enumerate(pieces)
    )


def _with_paragraphs(text: str) -> str:
    """Text whose paragraphs are single long lines, with the empty lines Markdown needs between them."""
    lines = [line for line in text.split("\n") if line.strip()]
    if "\n\n" in text.strip() or len(lines) < 4 or sum(map(len, lines)) / len(lines) < 90:
        return text
    return "\n\n".join(lines)


def _guessed_heading(parts: list[Heading | Block], index: int) -> Heading | Block:
    """A short line without a full stop before a paragraph of a text without headings, as the heading it is."""
    part = parts[index]
    if not isinstance(part, Paragraph) or index + 1 >= len(parts):
        return part
    text = plain(part.runs)
    following = parts[index + 1]
    if (
        len(text) > 70
        or "\n" in text
        or len(text.split()) > 10
        or re.search(r"[.!?:;,]\W*\Z", text)
        or not text[:1].isalnum()
    ):
        return part
    if _BYLINE.match(text) or not isinstance(following, (Paragraph, Listing)):
        return part
    longer = isinstance(following, Listing) or len(plain(following.runs)) > max(80, len(text))
    return Heading(1 if index == 0 and len(parts) > 3 else 2, part.runs) if longer else part


def _take_title(parts: list[Heading | Block]) -> tuple[Runs, list[Heading | Block]]:
    """The heading that names the whole text, and the parts without it and without what a web page puts before it."""
    levels = [part.level for part in parts if isinstance(part, Heading)]
    if not levels:
        return (), parts
    top = min(levels)
    first = next(index for index, part in enumerate(parts) if isinstance(part, Heading) and part.level == top)
    heading = parts[first]
    assert isinstance(heading, Heading)  # `first` was found as one
    before = [part for part in parts[:first] if not isinstance(part, Heading)]
    is_title = (
        levels.count(top) == 1 and len(levels) > 1 and all(isinstance(p, Heading) is False for p in parts[:first])
    )
    if is_title or (top == 1 and levels.count(1) == 1):
        kept = [part for part in parts[:first] if isinstance(part, Heading) or not _is_navigation(part)]
        return heading.runs, [*kept, *parts[first + 1 :]]
    if top == 1 and first == len(before):
        following = parts[first + 1] if first + 1 < len(parts) else None
        if isinstance(following, Heading):  # a title with nothing under it but the next heading
            return heading.runs, [*parts[:first], *parts[first + 1 :]]
        return heading.runs, parts
    return (), parts


def _is_navigation(block: Block) -> bool:
    texts = block_texts(block)
    return isinstance(block, (Listing, Paragraph)) and all(len(text.split()) <= 6 for text in texts)


def _grouped(parts: list[Heading | Block]) -> tuple[Section, list[Section]]:
    intro = Section((), 0)
    sections: list[Section] = []
    levels = sorted({part.level for part in parts if isinstance(part, Heading)})
    ranks = {level: rank for rank, level in enumerate(levels, start=1)}
    path: list[Section] = []  # the sections the next one may lie in, outermost first
    for part in parts:
        if not isinstance(part, Heading):
            (sections[-1] if sections else intro).blocks.append(part)
            continue
        rank = ranks[part.level]
        while path and path[-1].level >= rank:
            path.pop()
        sections.append(Section(part.runs, rank, parent=path[-1].name if path else ""))
        path.append(sections[-1])
    return intro, sections


def _take_front(intro: Section) -> tuple[Runs, str]:
    """Subtitle and author out of the first lines under the title."""
    subtitle: Runs = ()
    author = ""
    while intro.blocks and isinstance(intro.blocks[0], Paragraph):
        text = plain(intro.blocks[0].runs)
        if _BYLINE.match(text) and len(text) <= 100:
            author = (
                re.sub(r"^(?:by|author:?|von|par)\s+", "", text, flags=re.I)
                if re.match(r"(?:by|author|von|par)\b", text, re.I)
                else author
            )
        elif not subtitle and len(text) <= 110 and len(intro.blocks) > 1 and not re.search(r"[.!?:]\s*\Z", text):
            subtitle = intro.blocks[0].runs
        else:
            break
        intro.blocks.pop(0)
    return subtitle, author


def _attach_captions(section: Section) -> None:
    """Removes "Table 1: …" lines next to tables from the text and keeps them as the tables' names."""
    kept: list[Block] = []
    waiting: Runs = ()
    for index, block in enumerate(section.blocks):
        if (
            isinstance(block, Paragraph)
            and len(plain(block.runs)) <= 160
            and (match := _CAPTION.match(plain(block.runs)))
        ):
            caption = _text_runs(plain(block.runs)[match.end() :])
            following = section.blocks[index + 1] if index + 1 < len(section.blocks) else None
            if kept and isinstance(kept[-1], Table) and len(kept) - 1 not in section.captions:
                section.captions[len(kept) - 1] = caption
            elif isinstance(following, Table):
                waiting = caption
            continue
        kept.append(block)
        if isinstance(block, Table) and waiting:
            section.captions[len(kept) - 1] = waiting
            waiting = ()
    section.blocks = kept


def _first_sentence(intro: Section, sections: list[Section]) -> Runs:
    for section in (intro, *sections):
        for block in section.blocks:
            if isinstance(block, Paragraph) and (found := split_sentences(block.runs)):
                return tuple(replace(run, href=None) for run in shorten(found[0].runs, 80, 120))
    return sections[0].title if sections else ()


def _text_runs(text: str) -> Runs:
    from ._deck import Run

    stripped = text.strip()
    return (Run(stripped),) if stripped else ()


def _key(name: str) -> str:
    return re.sub(r"[^\w ]+", "", name).strip().lower()
