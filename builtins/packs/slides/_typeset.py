"""Typesets a deck with typst: the content goes in as JSON, the one template is the only code.

Root is an empty folder and no packages are used, so a document can neither read files nor reach the network.
"""

from __future__ import annotations

import json
import re
import tempfile
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from packline import excerpt

from ._deck import (
    Block,
    Cards,
    Code,
    Deck,
    Item,
    Listing,
    Paragraph,
    Quote,
    Run,
    Runs,
    Slide,
    Subheading,
    Table,
    plain,
    slide_texts,
)
from ._fit import SMALLEST, SMALLEST_PROSE, fit_by
from ._glyphs import missing_warning, replacements, unknown_characters
from ._layout import column_shares
from ._themes import THEMES, ThemeName, code_theme
from ._words import breakable, column_widths

if TYPE_CHECKING:
    import typst


HERE = Path(__file__).resolve().parent
FONTS = HERE / "fonts"
TEMPLATE = HERE / "deck.typ"

#: Type sizes tried on content slides, largest first, relative to 21 pt, each with how airy its lists are set.
SIZES = (
    (1.38, 1.3),
    (1.24, 1.25),
    (1.12, 1.2),
    (1.0, 1.5),
    (1.0, 1.1),
    (1.0, 0.8),
    (0.92, 0.8),
    (0.85, 0.75),
    (SMALLEST, 0.7),
)
#: Characters of the fixed-width face that fit across a slide at its smallest size (10 pt wide 0.6 em).
CODE_COLUMNS = 112
_FAMILIES = (
    "Inter",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Droid Sans Fallback",  # Chinese, Japanese and Korean, where no finer font is installed
    "DejaVu Sans",
    "Noto Color Emoji",
    "Apple Color Emoji",
    "Segoe UI Emoji",
    "Noto Emoji",
)
#: A code point that is unassigned for good (Unicode: noncharacter).
_NOWHERE = "\ufdd0"


@dataclass(frozen=True, slots=True)
class Typeset:
    """A deck as a document.

    Attributes:
        content: The PDF, or one PNG for each page.
        deck: The deck as it was set: split where it had to be, each slide with the type size it took.
        warnings: What is not as its author would like it.
    """

    content: list[bytes]
    deck: Deck
    warnings: tuple[str, ...]


class Typesetter:
    """A typst compiler with the template and the fonts loaded; one for each deck."""

    def __init__(self, theme: ThemeName) -> None:
        """Raises ImportError without typst."""
        import typst

        self._theme = theme
        self._fonts = typst.Fonts(include_system_fonts=True, include_embedded_fonts=True, font_paths=[FONTS])
        available = set(self._fonts.families())
        self._families = [family for family in _FAMILIES if family in available]
        self._mono: list[str] = [family for family in ("JetBrains Mono", "DejaVu Sans Mono") if family in available]
        self._mono.extend(family for family in self._families if family != "Inter")
        self._typst = typst
        self._replaced: dict[int, str] = {}

    def typeset(self, deck: Deck, output: Literal["pdf", "png", "none"], *, ppi: float = 72.0) -> Typeset:
        """Fits and typesets the deck; with `none` only fits it."""
        warnings = list(deck.warnings)
        unknown = self._unknown_characters(deck) if output != "none" else set()
        if missing := missing_warning(unknown):
            warnings.append(missing)
        self._replaced = str.maketrans(replacements(unknown))

        def needs_of(slides: list[Slide]) -> list[float]:
            return [need for _, need in self._measure(replace(deck, slides=tuple(slides)))]

        fitted, tight = fit_by(deck, needs_of)
        scales = [scale for scale, _ in self._measure(fitted, tight)]
        slides = tuple(replace(slide, scale=scale) for slide, scale in zip(fitted.slides, scales, strict=True))
        fitted = replace(fitted, slides=slides)
        warnings.extend(
            f"Slide {number} (\u201c{excerpt(plain(slide.heading), 60)}\u201d) holds one piece too large to split, "
            "so its type is smaller than on the others."
            for number, (slide, needed) in enumerate(zip(slides, tight, strict=True), start=1)
            if needed
        )
        content: list[bytes] = []
        if output != "none":
            with tempfile.TemporaryDirectory() as root:
                data = deck_json(fitted, self._theme, self._families, self._mono, tight)
                made = self._compiler(data, root).compile(format=output, ppi=ppi, timestamp=0)
                content = made if isinstance(made, list) else [made] if made else []
        return Typeset(content, fitted, tuple(warnings))

    def _measure(self, deck: Deck, tight: list[bool] | None = None) -> list[tuple[float, float]]:
        """For each slide the type size it takes and the share of its room it needs at that size."""
        return self._fits(deck_json(deck, self._theme, self._families, self._mono, tight))

    def _fits(self, data: dict[str, object]) -> list[tuple[float, float]]:
        with tempfile.TemporaryDirectory() as root:
            found = json.loads(self._compiler(data, root).query("<fit>", field="value", format="json"))
        by_slide = {entry["slide"]: (float(entry["scale"]), float(entry["need"])) for entry in found}
        return [by_slide[number] for number in sorted(by_slide)]

    def _compiler(self, data: dict[str, object], root: str) -> typst.Compiler:
        return self._typst.Compiler(
            TEMPLATE.read_bytes(),
            root=root,
            font_paths=self._fonts,
            sys_inputs={"deck": json.dumps(data, ensure_ascii=False).translate(self._replaced)},
        )

    def _unknown_characters(self, deck: Deck) -> set[str]:
        """Characters that no font has, the ones inside the compiler included (those can only be asked by drawing)."""
        files = {(Path(font.path), font.index) for font in self._fonts.fonts() if font.path}
        shipped = sorted(files, key=lambda entry: (entry[0].parent != FONTS, str(entry[0]), entry[1]))
        texts = [text for slide in deck.slides for text in slide_texts(slide)]
        unknown = unknown_characters([*texts, deck.footer], shipped)
        doubtful = sorted(character for character in unknown if character < "\u2e80")[:64]
        return unknown - self._drawable(doubtful)

    def _drawable(self, characters: list[str]) -> set[str]:
        """Those of `characters` that are drawn otherwise than one no font has."""
        if not characters:
            return set()
        source = (
            "#set page(width: 24pt, height: 24pt, margin: 4pt)\n#let d = json(bytes(sys.inputs.deck))\n"
            "#set text(font: d.fonts)\n#for c in d.characters { page(c) }"
        )
        data = json.dumps({"fonts": self._families, "characters": [_NOWHERE, *characters]})
        with tempfile.TemporaryDirectory() as root:
            compiler = self._typst.Compiler(
                source.encode(), root=root, font_paths=self._fonts, sys_inputs={"deck": data}
            )
            pictures = compiler.compile(format="png", ppi=72.0)
        if not isinstance(pictures, list):
            return set()
        box, *drawn = pictures
        return {character for character, picture in zip(characters, drawn, strict=True) if picture != box}


def deck_json(
    deck: Deck, theme: ThemeName, families: list[str], mono: list[str], tight: list[bool] | None = None
) -> dict[str, object]:
    """What the template reads."""
    look = THEMES[theme]
    return {
        "title": deck.title,
        "author": deck.author,
        "footer": _shortened(deck.footer, 72),
        "lang": "en",
        "fonts": families,
        "mono": mono,
        "theme": {**look.colours(), "decor": look.decor, "tint": look.tint, "code_theme": code_theme(look)},
        "slides": [_slide(slide, rescue=bool(tight and tight[index])) for index, slide in enumerate(deck.slides)],
    }


def _slide(slide: Slide, *, rescue: bool) -> dict[str, object]:
    dense = any(isinstance(block, (Code, Table)) for block in slide.blocks)
    largest = 1.0 if slide.part[1] > 1 else 1.12 if dense else 2.0
    smallest = SMALLEST if dense else SMALLEST_PROSE
    sizes = [size for size in SIZES if smallest <= size[0] <= largest]
    return {
        "layout": slide.layout,
        "title": _runs(slide.heading),
        "sizes": sizes,
        "rescue": rescue,
        "columns": [[_block(block) for block in column] for column in slide.columns],
        "shares": column_shares(slide.columns),
    }


def _block(block: Block) -> dict[str, object]:
    match block:
        case Paragraph(runs):
            return {"kind": "paragraph", **_runs(runs)}
        case Subheading(runs):
            return {"kind": "subheading", **_runs(runs)}
        case Listing(items, ordered, start):
            return {
                "kind": "list",
                "ordered": ordered,
                "start": start,
                "rtl": all(is_right_to_left(plain(item.runs)) for item in items),
                "items": [_item(item) for item in items],
            }
        case Table():
            return _table(block)
        case Code(text, language):
            wrapped = "\n".join(piece for line in text.split("\n") for piece in wrap_code(line, CODE_COLUMNS))
            return {"kind": "code", "text": wrapped, "lang": language, "label": language}
        case Quote(paragraphs, source):
            return {"kind": "quote", "paragraphs": [_runs(runs) for runs in paragraphs], "source": _runs(source)}
        case Cards(cards):
            return {"kind": "cards", "cards": [{"lead": _runs(lead), "body": _runs(body)} for lead, body in cards]}


def _item(item: Item) -> dict[str, object]:
    return {**_runs(item.runs), "children": [_block(child) for child in item.children]}


def _runs(runs: Runs) -> dict[str, object]:
    return {"runs": [_run(run) for run in runs], "rtl": is_right_to_left(plain(runs))}


def _run(run: Run) -> dict[str, object]:
    made: dict[str, object] = {"v": breakable(run.text)}
    for key, value in (("b", run.bold), ("i", run.italic), ("c", run.code), ("s", run.strike)):
        if value:
            made[key] = True
    if run.href:
        made["h"] = run.href
    return made


def _table(table: Table) -> dict[str, object]:
    widths, width, size = column_widths(table)
    return {
        "kind": "table",
        "head": [_runs(cell) for cell in table.head],
        "rows": [[_runs(cell) for cell in row] for row in table.rows],
        "aligns": list(table.aligns),
        "widths": widths,
        "width": width,
        "size": size,
    }


def wrap_code(line: str, columns: int) -> list[str]:
    """A line of code, continued with its indent where it is wider than `columns` characters."""
    pieces = []
    indent = re.match(r" *", line)
    margin = " " * min(len(indent[0]) if indent else 0, 40)
    while len(line) > columns:
        cut = line.rfind(" ", columns // 2, columns)
        cut = cut if cut > len(margin) else columns
        pieces.append(line[:cut].rstrip())
        line = margin + "    " + line[cut:].lstrip()
    pieces.append(line)
    return pieces


def is_right_to_left(text: str) -> bool:
    """Whether the first strong character reads from the right (Unicode bidirectional algorithm, P2 and P3)."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind == "L":
            return False
        if kind in ("R", "AL"):
            return True
    return False


def _shortened(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    return text[: text.rfind(" ", 0, limit) if " " in text[:limit] else limit].rstrip(" ,;:-") + "\u2026"


def count_pages(pdf: bytes) -> int:
    """Pages of a PDF as its page tree's root says (ISO 32000-2, 7.7.3.2); 0 when it cannot be found."""
    counts = re.findall(rb"/Type\s*/Pages\b[^>]*?/Count\s+(\d+)", pdf) or re.findall(
        rb"/Count\s+(\d+)[^>]*?/Type\s*/Pages\b", pdf
    )
    return max((int(count) for count in counts), default=0)
