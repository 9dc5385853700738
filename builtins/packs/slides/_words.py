"""Widths of words and table columns in characters, and where long words may be broken."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ._deck import plain

if TYPE_CHECKING:
    from ._deck import Table

#: Characters of table text across a slide at normal size.
TABLE_CHARACTERS = 86
_LONG_WORD = re.compile(r"[^\s\u200b]{28,}")
_WORD_BORDERS = re.compile(r"(?<=[/._\-?&=:,;@#])(?=[^/._\-?&=:,;@#])|(?<=[a-z])(?=[A-Z])")


def column_widths(table: Table) -> tuple[list[float], float, float]:
    """Relative column widths, the share of the slide's width the table takes (0.5 to 1), and its type size.

    No column is narrower than its longest word; what is left goes to those with more to say. The type size is below 1
    when the words alone are wider than the slide.
    """
    words, wants = [], []
    for index in range(len(table.head)):
        cells = [plain(row[index]) for row in (table.head, *table.rows)]
        longest = max(max((shown_width(line) for line in cell.split("\n")), default=0) for cell in cells)
        word = max((shown_width(part) for cell in cells for part in cell.split()), default=0)
        words.append(min(word, 24) * 1.22 + 3.0)
        wants.append(min(longest, 60) * 1.0 + 3.0)
    spare = max(TABLE_CHARACTERS - sum(words), 0.0)
    extra = [max(want - word, 0.0) for want, word in zip(wants, words, strict=True)]
    if sum(extra) <= spare:  # everything on one line: leave the rest to all columns alike
        total = sum(words) + sum(extra)
        return (
            [word + more for word, more in zip(words, extra, strict=True)],
            max(0.5, min(1.0, total * 1.5 / TABLE_CHARACTERS)),
            1.0,
        )
    widths = [word + spare * more / sum(extra) for word, more in zip(words, extra, strict=True)]
    return widths, 1.0, min(1.0, TABLE_CHARACTERS / sum(words))


def shown_width(text: str) -> int:
    """Characters of `text`, wide (East Asian) ones counted as two."""
    return sum(2 if "\u2e80" <= character <= "\uffdc" else 1 for character in text)


def breakable(text: str) -> str:
    """The text with places marked where its long words (addresses, paths) may be broken."""
    return _LONG_WORD.sub(lambda word: break_word(word[0]), text)


def break_word(word: str) -> str:
    """A long word (an address, a path) with places where it may be broken, marked by zero-width spaces."""
    pieces = [piece for part in _WORD_BORDERS.split(word) for piece in _chunks(part, 24)]
    return "\u200b".join(pieces)


def _chunks(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)] or [text]
