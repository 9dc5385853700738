"""How much room things take on a PowerPoint slide, in points on a 960 x 540 slide; PowerPoint itself cannot be asked.

Widths are those of Inter, a little on the safe side, since a viewer without it shows something else.
"""

from __future__ import annotations

from ._deck import Block, Cards, Code, Item, Listing, Paragraph, Quote, Subheading, Table, plain
from ._typeset import CODE_COLUMNS, wrap_code
from ._words import column_widths

WIDTH, HEIGHT = 960.0, 540.0
MARGIN = 64.0
BODY_WIDTH = WIDTH - 2 * MARGIN
BODY_BOTTOM = HEIGHT - 52.0
GUTTER = 36.0
CARD_GAP = 18.0
#: Left and right of a table cell, in em.
CELL_MARGIN = 0.55
BODY_SIZE = 21.0


def size_for(text: str, steps: tuple[tuple[int, float], ...]) -> float:
    """The size of the first step whose length is not exceeded."""
    return next(size for length, size in steps if len(text) <= length)


def line_count(text: str, width: float, size: float) -> int:
    """Lines `text` takes; Inter is about 0.53 em wide on average, East Asian characters 1 em."""
    per_line = max(4.0, width / (size * 0.53))
    total = 0
    for line in text.split("\n"):
        length = sum(1.9 if "\u2e80" <= character <= "\uffdc" else 1.0 for character in line)
        total += max(1, -int(-length // per_line))
    return max(total, 1)


def text_height(blocks: list[Block], width: float, size: float) -> float:
    total = 0.0
    for block in blocks:
        match block:
            case Paragraph(runs) | Subheading(runs):
                total += line_count(plain(runs), width, size) * size * 1.22 + size * 0.7
            case Listing(items):
                total += sum(item_height(item, width - 24, size) for item in items)
            case Quote(paragraphs, source):
                total += sum(
                    line_count(plain(runs), width - 18, size) * size * 1.22 + size * 0.4 for runs in paragraphs
                )
                total += size * 1.2 if source else 0
            case _:
                continue
    return total


def item_height(item: Item, width: float, size: float) -> float:
    nested = sum(item_height(child, width - 24, size * 0.88) for listing in item.children for child in listing.items)
    return line_count(plain(item.runs), width, size) * size * 1.22 + size * 0.55 + nested


def group_height(group: list[Block], width: float, size: float) -> float:
    match group[0]:
        case Table() as table:
            return sum(table_measures(table, width, size)[2])
        case Code() as code:
            return code_measures(code, width, size)[2]
        case Cards() as cards:
            columns, _, height = card_measures(cards, width, size)
            rows = -(-len(cards.cards) // columns)
            return height * rows + CARD_GAP * (rows - 1)
        case _:
            return text_height(group, width, size)


def table_measures(table: Table, width: float, body_size: float) -> tuple[float, list[float], list[float]]:
    """Type size, column widths and row heights."""
    shares, share, shrink = column_widths(table)
    size = body_size * 0.8 * shrink
    columns = [width * share * value / sum(shares) for value in shares]
    heights = [
        max(
            line_count(plain(cell), column - size * CELL_MARGIN * 2.2, size)
            for cell, column in zip(row, columns, strict=True)
        )
        * size
        * 1.22
        + size * 0.86
        for row in (table.head, *table.rows)
    ]
    return size, columns, heights


def code_measures(code: Code, width: float, body_size: float) -> tuple[list[str], float, float]:
    """Lines, type size and height; a fixed-width face is 0.6 em wide."""
    lines = [piece for line in code.text.split("\n") for piece in wrap_code(line, CODE_COLUMNS)]
    longest = max(len(line) for line in lines)
    size = min(body_size * 0.72, (width - 44) / (max(longest, 1) * 0.604))
    return lines, size, len(lines) * size * 1.24 + 30


def card_measures(block: Cards, width: float, size: float) -> tuple[int, float, float]:
    """Columns, and width and height of each card."""
    count = len(block.cards)
    columns = 2 if count == 4 else 3 if count == 6 else count
    each = (width - CARD_GAP * (columns - 1)) / columns
    tallest = max(
        line_count(plain(lead), each - 44, size) * size * 1.25
        + line_count(plain(body), each - 44, size * 0.86) * size * 0.86 * 1.3
        for lead, body in block.cards
    )
    return columns, each, max(tallest + 52, 130.0 if columns == count else 96.0)


def grouped(blocks: tuple[Block, ...]) -> list[list[Block]]:
    """Neighbouring text blocks together, every other block by itself."""
    groups: list[list[Block]] = []
    for block in blocks:
        textual = not isinstance(block, (Table, Code, Cards))
        if textual and groups and not isinstance(groups[-1][0], (Table, Code, Cards)):
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups
