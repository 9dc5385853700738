"""The deck between parsing and drawing: slides made of a few kinds of block, free of any output format."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

Layout = Literal["title", "section", "agenda", "content", "quote", "closing"]
LAYOUTS: tuple[Layout, ...] = ("title", "section", "agenda", "content", "quote", "closing")
Align = Literal["left", "center", "right"]


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text in one style.

    Attributes:
        text: Plain text; never markup of any kind.
        bold: Set in bold.
        italic: Set in italics.
        code: Set in the fixed-width face.
        strike: Struck through.
        href: Address it links to; http, https or mailto only.
    """

    text: str
    bold: bool = False
    italic: bool = False
    code: bool = False
    strike: bool = False
    href: str | None = None


Runs: TypeAlias = tuple[Run, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    runs: Runs


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading inside a slide."""

    runs: Runs


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a list: its own text and the lists under it."""

    runs: Runs
    children: tuple[Listing, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """A bulleted or numbered list.

    Attributes:
        items: At least one.
        ordered: Numbered rather than bulleted.
        start: Number of the first item.
    """

    items: tuple[Item, ...]
    ordered: bool = False
    start: int = 1


@dataclass(frozen=True, slots=True)
class Table:
    """A table; every row has as many cells as `head`."""

    head: tuple[Runs, ...]
    rows: tuple[tuple[Runs, ...], ...]
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """A listing of source code, lines separated by line feeds, tabs already expanded."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Somebody's words, and whose they are."""

    paragraphs: tuple[Runs, ...]
    source: Runs = ()


@dataclass(frozen=True, slots=True)
class Cards:
    """Two to four short statements side by side, each with a bold lead."""

    cards: tuple[tuple[Runs, Runs], ...]


Block: TypeAlias = Paragraph | Subheading | Listing | Table | Code | Quote | Cards


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide.

    Attributes:
        layout: How it is arranged.
        title: Its heading; empty when it has none.
        columns: Its blocks: one column, or two side by side.
        notes: What the speaker says, plain text, paragraphs separated by blank lines.
        part: Which part of a slide that was split this is, with their number; (1, 1) for a whole one.
        scale: Type size relative to the theme's, found by measuring.
    """

    layout: Layout
    title: Runs = ()
    columns: tuple[tuple[Block, ...], ...] = ((),)
    notes: str = ""
    part: tuple[int, int] = (1, 1)
    scale: float = 1.0

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in reading order."""
        return tuple(block for column in self.columns for block in column)

    @property
    def heading(self) -> Runs:
        """The title with the part's number, such as "Results (2/3)"."""
        number, count = self.part
        if count == 1 or not self.title:
            return self.title
        return (*self.title, Run(f" ({number}/{count})"))


@dataclass(frozen=True, slots=True)
class Deck:
    """A presentation.

    Attributes:
        title: For the document's properties and the footer.
        slides: At least one.
        author: For the document's properties; may be empty.
        footer: Shown at the bottom left of content slides; may be empty.
        warnings: What could not be carried over from the source.
    """

    title: str
    slides: tuple[Slide, ...]
    author: str = ""
    footer: str = ""
    warnings: tuple[str, ...] = field(default=())


def plain(runs: Runs) -> str:
    """The text of `runs` without its styles."""
    return "".join(run.text for run in runs)


def cut_runs(runs: Runs, start: int, end: int) -> Runs:
    """The characters `start` to `end` with their styles."""
    position = 0
    kept: list[Run] = []
    for run in runs:
        low, high = max(start - position, 0), min(end - position, len(run.text))
        if low < high:
            kept.append(replace(run, text=run.text[low:high]))
        position += len(run.text)
    return tuple(kept)


def cut_everywhere(runs: Runs, cuts: list[int]) -> list[Runs]:
    """`runs` in pieces, cut at ascending positions; takes time in proportion to their number, not its square."""
    pieces: list[list[Run]] = [[]]
    position = 0
    remaining = iter([*cuts, -1])
    cut = next(remaining)
    for run in runs:
        start = 0
        while 0 <= cut <= position + len(run.text) - (0 if cut < position + len(run.text) else 1):
            if cut > position + start:
                pieces[-1].append(replace(run, text=run.text[start : cut - position]))
                start = cut - position
            pieces.append([])
            cut = next(remaining)
        if start < len(run.text):
            pieces[-1].append(replace(run, text=run.text[start:]))
        position += len(run.text)
    return [tuple(piece) for piece in pieces]


def block_texts(block: Block) -> list[str]:
    """Every stretch of text a block shows."""
    match block:
        case Paragraph(runs) | Subheading(runs):
            return [plain(runs)]
        case Listing(items):
            return [text for item in items for text in (plain(item.runs), *_children_texts(item))]
        case Table(head, rows):
            return [plain(cell) for row in (head, *rows) for cell in row]
        case Code(text):
            return [text]
        case Quote(paragraphs, source):
            return [plain(runs) for runs in (*paragraphs, source)]
        case Cards(cards):
            return [plain(runs) for card in cards for runs in card]


def _children_texts(item: Item) -> list[str]:
    return [text for listing in item.children for text in block_texts(listing)]


def slide_texts(slide: Slide) -> list[str]:
    """Every stretch of text a slide shows, its notes left out."""
    return [plain(slide.heading), *(text for block in slide.blocks for text in block_texts(block))]
