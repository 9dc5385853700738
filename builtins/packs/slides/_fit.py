"""Cuts a slide that holds too much into several that do not, at list items, table rows, code lines or sentences.

Nothing is dropped and no heading is left alone at the end of a part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

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
    Runs,
    Slide,
    Subheading,
    Table,
    plain,
)
from ._layout import sentences
from ._words import column_widths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: Characters of body text on a full-width line, and lines in a body, at normal type size (measured with Inter 21 pt).
LINE_CHARACTERS = 78
BODY_LINES = 12.5
#: Most pages a deck may have.
MAX_PAGES = 300
#: Smallest type sizes relative to normal before a slide is split: 18 pt, and 16 pt next to tables and code.
SMALLEST_PROSE = 0.85
SMALLEST = 0.78


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest piece a slide is cut into: part of one block, and how many lines it is worth."""

    block: int
    piece: Item | tuple[Runs, ...] | tuple[Runs, Runs] | str | Block
    lines: float
    keep_with_next: bool = False


Groups: TypeAlias = "list[list[Slide]]"


class TooManyPagesError(Exception):
    """The deck would have more than `MAX_PAGES` pages."""


def fit_by(deck: Deck, needs_of: Callable[[list[Slide]], list[float]], *, rounds: int = 12) -> tuple[Deck, list[bool]]:
    """Splits slides until each needs at most the room it has.

    Args:
        deck: The deck. Slides that hold many times too much are cut by estimate before anything is measured.
        needs_of: For each slide, the height it needs at the smallest type size as a share of the height there is.
        rounds: Most times to measure.

    Returns:
        The deck with its slides split and numbered, and for each slide whether it still needs more room although it
        cannot be split any further.

    Raises:
        TooManyPagesError: beyond `MAX_PAGES`.
    """
    if sum(max(1.0, need) for need in estimate_needs(list(deck.slides))) > 1.5 * MAX_PAGES:  # however wrong by a third
        raise TooManyPagesError
    groups: Groups = [[slide] for slide in deck.slides]
    for _ in range(rounds):
        flat = [slide for group in groups for slide in group]
        if len(flat) > MAX_PAGES:
            raise TooManyPagesError
        needs = _coarse_needs(flat) or needs_of(_numbered(groups))
        split: dict[int, list[Slide]] = {
            index: parts
            for index, (slide, need) in enumerate(zip(flat, needs, strict=True))
            if need > 1.001 and (parts := split_slide(slide, max(2, math.ceil(need * 1.04)))) is not None
        }
        if not split:
            break
        index = 0
        regrouped: Groups = []
        for group in groups:
            regrouped.append([])
            for slide in group:
                regrouped[-1].extend(split.get(index, [slide]))
                index += 1
        groups = regrouped
    slides = _numbered(groups)
    needs = needs_of(slides)
    return replace(deck, slides=tuple(slides)), [need > 1.001 for need in needs]


def _coarse_needs(slides: list[Slide]) -> list[float]:
    """What slides of several pages need, halved to leave the fine cut to measuring; empty when there are none."""
    needs = [min(need, 2 * MAX_PAGES) for need in estimate_needs(slides)]
    if not any(need > 4 and len(_units(slide.blocks, 60)) > 1 for need, slide in zip(needs, slides, strict=True)):
        return []
    return [need / 2 if need > 4 else 0.0 for need in needs]


def estimate_needs(slides: list[Slide]) -> list[float]:
    """`needs_of` without a typesetter: counts lines, on the safe side."""
    return [estimate_lines(slide) * math.pow(SMALLEST_PROSE, 1.6) / BODY_LINES for slide in slides]


def estimate_scale(slide: Slide) -> float:
    """A type size at which the slide should fit, between the smallest and a little over normal."""
    lines = max(estimate_lines(slide), 1.0)
    return max(SMALLEST_PROSE, min(1.15, math.pow(BODY_LINES / lines, 0.6)))


def estimate_lines(slide: Slide) -> float:
    """Lines of body text a content slide is worth at normal type size; 0 for slides that shrink by themselves."""
    if slide.layout not in ("content", "closing"):
        return 0.0
    share = len(slide.columns)
    columns = [sum(unit.lines for unit in _units(column, LINE_CHARACTERS // share)) for column in slide.columns]
    return max(columns) + max(0.0, math.ceil(len(plain(slide.heading)) / 46) - 1)


def split_warnings(deck: Deck) -> list[str]:
    """One sentence naming the slides that had to be split; empty when none had."""
    titles = [plain(slide.title).strip() or "(untitled)" for slide in deck.slides if slide.part[0] == 1 < slide.part[1]]
    if not titles:
        return []
    shown = ", ".join(f"\u201c{excerpt(title, 60)}\u201d" for title in titles[:5])
    more = f" and {len(titles) - 5} more" if len(titles) > 5 else ""
    return [f"Held more than fits on one slide, so it was split: {shown}{more}."]


def split_slide(slide: Slide, parts: int) -> list[Slide] | None:
    """`slide` as at most `parts` slides of about the same weight, or None when it cannot be cut."""
    if slide.layout not in ("content", "closing"):
        return [replace(slide, layout="content", columns=(slide.blocks,))]
    blocks = _rejoined(slide.blocks)
    units = _glue(_units(blocks, LINE_CHARACTERS))
    if len(units) < 2:
        finer = _finer(blocks)
        if finer is None:
            return None
        blocks = finer
        units = _glue(_units(blocks, LINE_CHARACTERS))
    groups = _partition(units, min(parts, len(units)))
    slides = []
    for number, group in enumerate(groups):
        pieces = [unit for glued in group for unit in glued]
        slides.append(
            replace(
                slide,
                layout="content" if number < len(groups) - 1 else slide.layout,
                columns=(tuple(_rebuild(blocks, pieces)),),
                notes=slide.notes if number == 0 else "",
            )
        )
    return slides


def _numbered(groups: Groups) -> list[Slide]:
    return [
        replace(slide, part=(number, len(group))) for group in groups for number, slide in enumerate(group, start=1)
    ]


def _text_lines(text: str, width: int) -> float:
    """Lines of `text` set `width` characters wide; wide (East Asian) characters count as two."""
    total = 0
    for line in text.split("\n"):
        length = sum(2 if "\u2e80" <= character <= "\uffdc" else 1 for character in line)
        total += max(1, math.ceil(length / max(width, 8)))
    return float(total)


def _item_lines(item: Item, width: int) -> float:
    nested = sum(_item_lines(child, width - 4) * 0.9 for listing in item.children for child in listing.items)
    return _text_lines(plain(item.runs), width) + 0.55 + nested


def _units(blocks: Sequence[Block], width: int) -> list[_Unit]:
    units: list[_Unit] = []
    for index, block in enumerate(blocks):
        match block:
            case Listing(items):
                units.extend(_Unit(index, item, _item_lines(item, width)) for item in items)
            case Table(head, rows):
                shares, share, _ = column_widths(block)
                columns = [max(4, int(width * 1.14 * share * value / sum(shares)) - 3) for value in shares]
                units.extend(
                    _Unit(
                        index,
                        row,
                        0.8 * max(_text_lines(plain(cell), room) for cell, room in zip(row, columns, strict=True))
                        + 0.72,
                    )
                    for row in rows or (tuple(() for _ in head),)
                )
            case Code(text):
                units.extend(_Unit(index, line, 0.86) for line in text.split("\n"))
            case Cards(cards):
                units.extend(_Unit(index, card, 5.0 / min(len(cards), 3) + 0.5) for card in cards)
            case Quote(paragraphs):
                units.extend(_Unit(index, (runs,), _text_lines(plain(runs), width - 4) + 0.6) for runs in paragraphs)
            case Subheading(runs):
                units.append(_Unit(index, block, _text_lines(plain(runs), width) + 0.6, keep_with_next=True))
            case Paragraph(runs):
                text = plain(runs)
                units.append(
                    _Unit(index, block, _text_lines(text, width) + 0.6, keep_with_next=text.rstrip().endswith(":"))
                )
    return units


def _glue(units: list[_Unit]) -> list[list[_Unit]]:
    """Units with what must stay with its successor tied to it."""
    glued: list[list[_Unit]] = []
    open_end = False
    for unit in units:
        if open_end:
            glued[-1].append(unit)
        else:
            glued.append([unit])
        open_end = unit.keep_with_next
    return glued


def _partition(units: list[list[_Unit]], parts: int) -> list[list[list[_Unit]]]:
    """Consecutive groups, none empty, whose heaviest is as light as cutting at the nearest borders allows."""
    total = sum(unit.lines for glued in units for unit in glued)
    groups: list[list[list[_Unit]]] = [[]]
    taken = 0.0
    for index, glued in enumerate(units):
        weight = sum(unit.lines for unit in glued)
        target = total * len(groups) / parts
        if (groups[-1] and len(groups) < parts and taken + weight / 2 > target) or (
            groups[-1] and len(units) - index <= parts - len(groups)
        ):
            groups.append([])
        groups[-1].append(glued)
        taken += weight
    return groups


def _rebuild(blocks: Sequence[Block], units: Iterable[_Unit]) -> Iterable[Block]:
    """The blocks that `units` are pieces of, holding only those pieces."""
    by_block: dict[int, list[_Unit]] = {}
    for unit in units:
        by_block.setdefault(unit.block, []).append(unit)
    for index, pieces in by_block.items():
        block = blocks[index]
        values = tuple(unit.piece for unit in pieces)
        match block:
            case Listing(items, ordered, start):
                kept = tuple(value for value in values if isinstance(value, Item))
                first = next(number for number, item in enumerate(items) if item is kept[0])
                yield Listing(kept, ordered, start + first)
            case Table():
                yield replace(block, rows=values if block.rows else ())  # type: ignore[arg-type]
            case Code():
                lines = [str(value) for value in values]
                while len(lines) > 1 and not lines[0].strip():
                    lines.pop(0)
                yield replace(block, text="\n".join(lines).rstrip("\n"))
            case Cards():
                yield from _cards(values)  # type: ignore[arg-type]
            case Quote(_, source):
                last = block.paragraphs[-1]
                paragraphs = tuple(value[0] for value in values)  # type: ignore[index]
                yield Quote(paragraphs, source if paragraphs[-1] is last else ())  # type: ignore[arg-type]
            case _:
                yield block


def _cards(cards: tuple[tuple[Runs, Runs], ...]) -> Iterable[Block]:
    if len(cards) > 1:
        yield Cards(cards)
        return
    for lead, body in cards:
        yield Subheading(lead)
        yield Paragraph(body)


def _rejoined(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Blocks with a list that had been set in two columns made one again."""
    joined: list[Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if isinstance(block, Listing) and isinstance(last, Listing) and _continues(last, block):
            joined[-1] = replace(last, items=(*last.items, *block.items))
            continue
        joined.append(block)
    return tuple(joined)


def _continues(first: Listing, second: Listing) -> bool:
    """Whether the second list takes up where the first ends."""
    if first.ordered != second.ordered:
        return False
    return not first.ordered or second.start == first.start + len(first.items)


def _finer(blocks: Sequence[Block]) -> tuple[Block, ...] | None:
    """The same text in smaller blocks, for a slide that is one big piece; None when there is no border to cut at."""
    if not blocks:
        return None
    *before, block = blocks
    match block:
        case Paragraph(runs) if len(pieces := sentences(runs)) > 1:
            return (*before, *(Paragraph(piece) for piece in pieces))
        case Quote(paragraphs, source) if len(pieces := [p for runs in paragraphs for p in sentences(runs)]) > len(
            paragraphs
        ):
            return (*before, Quote(tuple(pieces), source))
        case Listing((Item(runs, children),)):
            pieces = sentences(runs)
            if len(pieces) > 1 or (children and runs):
                return (*before, *(Paragraph(piece) for piece in pieces), *children)
            if children:
                return (*before, *children)
            return None
        case _:
            return None
