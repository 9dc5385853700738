"""Chooses how a slide is arranged: its layout, cards, and when two columns serve better than one.

All of it is decided from the content alone; sizes are found later, by measuring.
"""

from __future__ import annotations

import re
from dataclasses import replace

from ._deck import (
    LAYOUTS,
    Block,
    Cards,
    Code,
    Item,
    Layout,
    Listing,
    Paragraph,
    Quote,
    Run,
    Runs,
    Slide,
    Subheading,
    Table,
    block_texts,
    cut_runs,
    plain,
)

_SENTENCE_END = re.compile("(?<=[.!?\u2026\u3002\uff01\uff1f])[\"'\u201d\u2019)]*\\s+|(?<=[\u3002\uff01\uff1f])")
_AGENDA = re.compile(r"(?:agenda|outline|contents|table of contents|what we will cover)\W*\Z", re.IGNORECASE)
_CLOSING = re.compile(
    r"(?:key |main )?(?:takeaways?|conclusions?|summary|next steps|recap|in short|to sum up)\W*\Z", re.IGNORECASE
)
_FAREWELL = re.compile(r"(?:thank(?:s| you).*|questions.*|q ?& ?a|the end|contact)\W*\Z", re.IGNORECASE)
_LEAD_END = re.compile("\\s*[:.\u2013\u2014-]\\s*\\Z")
_BODY_START = re.compile("\\s*[:.\u2013\u2014-]\\s+")


def arrange(
    heading: Runs, blocks: tuple[Block, ...], *, wanted: str = "", notes: str = "", number: int, count: int
) -> Slide:
    """The slide `number` of `count` with its layout chosen; `wanted` wins where the content allows it."""
    layout = _layout(heading, blocks, wanted, number, count)
    blocks = tuple(piece for block in blocks for piece in _readable(block))
    if layout in ("content", "closing"):
        return Slide(layout, heading, _columns(_with_cards(blocks, layout)), notes)
    return Slide(layout, heading, (blocks,), notes)


def _readable(block: Block) -> tuple[Block, ...]:
    """A long paragraph as several, since nobody reads a wall of text on a slide; anything else as it is."""
    if not isinstance(block, Paragraph) or len(plain(block.runs)) <= 460:
        return (block,)
    paragraphs: list[Runs] = []
    for sentence in sentences(block.runs):
        if paragraphs and len(plain(paragraphs[-1])) + len(plain(sentence)) <= 300:
            paragraphs[-1] = (*paragraphs[-1], *sentence)
        else:
            paragraphs.append(sentence)
    return tuple(Paragraph(runs) for runs in paragraphs)


def _layout(heading: Runs, blocks: tuple[Block, ...], wanted: str, number: int, count: int) -> Layout:
    chosen = next((layout for layout in LAYOUTS if layout == wanted), None)
    if chosen and _fits(chosen, heading, blocks):
        return chosen
    text = plain(heading).strip()
    if number == 1 and count > 1 and _fits("title", heading, blocks):
        return "title"
    if _AGENDA.match(text) and number <= 3 and _fits("agenda", heading, blocks):
        return "agenda"
    if _fits("quote", heading, blocks):
        return "quote"
    if _fits("section", heading, blocks) and (not blocks or _FAREWELL.match(text)):
        return "section"
    if number == count and count > 2 and _CLOSING.match(text):
        return "closing"
    return "content"


def _fits(layout: Layout, heading: Runs, blocks: tuple[Block, ...]) -> bool:
    """Whether the content is of the kind a layout can show well."""
    match layout:
        case "title" | "section":
            short = all(isinstance(block, Paragraph) and len(plain(block.runs)) <= 240 for block in blocks)
            return bool(heading) and short and len(blocks) <= (3 if layout == "title" else 1)
        case "agenda":
            if len(blocks) != 1 or not isinstance(blocks[0], Listing):
                return False
            items = blocks[0].items
            return 2 <= len(items) <= 12 and all(not i.children and len(plain(i.runs)) <= 90 for i in items)
        case "quote":
            return (
                len(blocks) == 1
                and isinstance(blocks[0], Quote)
                and sum(len(plain(runs)) for runs in blocks[0].paragraphs) <= 420
            )
        case "content" | "closing":
            return True


def _with_cards(blocks: tuple[Block, ...], layout: Layout) -> tuple[Block, ...]:
    """Turns a list of two to four short statements with bold leads into cards, where it is the slide's only matter."""
    if layout != "content" or not blocks or not isinstance(blocks[-1], Listing):
        return blocks
    if len(blocks) > 2 or (len(blocks) == 2 and not isinstance(blocks[0], Paragraph)):
        return blocks
    listing = blocks[-1]
    if listing.ordered or len(listing.items) not in (2, 3, 4, 6):
        return blocks
    cards = [_card(item) for item in listing.items]
    if any(card is None for card in cards):
        return blocks
    return (*blocks[:-1], Cards(tuple(card for card in cards if card is not None)))


def _card(item: Item) -> tuple[Runs, Runs] | None:
    """Lead and body of an item such as "**Pack**: one typed step", or None when it is not of that form."""
    if item.children or len(item.runs) < 2 or not item.runs[0].bold or item.runs[0].href:
        return None
    first, second, *rest = item.runs
    lead = _LEAD_END.sub("", first.text).strip()
    separated = _LEAD_END.search(first.text) or _BODY_START.match(second.text)
    body = (replace(second, text=_BODY_START.sub("", second.text, count=1).lstrip()), *rest)
    length = len(plain(body))
    if not separated or not lead or len(lead) > 36 or not 12 <= length <= 150:
        return None
    if not body[0].code:
        body = (replace(body[0], text=body[0].text[:1].upper() + body[0].text[1:]), *body[1:])
    return (Run(lead),), body


def _columns(blocks: tuple[Block, ...]) -> tuple[tuple[Block, ...], ...]:
    """One column or two."""
    heads = [index for index, block in enumerate(blocks) if isinstance(block, Subheading)]
    if len(heads) == 2 and heads[0] == 0 and heads[1] > 1 and heads[1] < len(blocks) - 1:
        left, right = blocks[: heads[1]], blocks[heads[1] :]
        if all(_is_narrow(block) for block in blocks):
            return left, right
    if len(blocks) == 1 and isinstance(blocks[0], Listing):
        return _two_lists(blocks[0])
    if len(blocks) == 2:
        one, other = blocks
        if _is_side_list(one) and _is_side_piece(other):
            return (one,), (other,)
        if _is_side_piece(one) and _is_side_list(other):
            return (one,), (other,)
    return (blocks,)


def _two_lists(listing: Listing) -> tuple[tuple[Block, ...], ...]:
    """A long list of short items in two columns."""
    items = listing.items
    if not 7 <= len(items) <= 14 or any(item.children or len(plain(item.runs)) > 48 for item in items):
        return ((listing,),)
    half = (len(items) + 1) // 2
    return (
        (Listing(items[:half], listing.ordered, listing.start),),
        (Listing(items[half:], listing.ordered, listing.start + half),),
    )


def _is_side_list(block: Block) -> bool:
    return (
        isinstance(block, Listing)
        and 2 <= len(block.items) <= 6
        and all(len(plain(item.runs)) <= 100 and not item.children for item in block.items)
    )


def _is_side_piece(block: Block) -> bool:
    """Whether a table or listing is narrow enough to fit next to a list."""
    if isinstance(block, Code):
        lines = block.text.split("\n")
        return 3 <= len(lines) <= 14 and max(len(line) for line in lines) <= 44
    if isinstance(block, Table):
        widths = [max(len(plain(row[index])) for row in (block.head, *block.rows)) for index in range(len(block.head))]
        return len(block.head) <= 3 and 2 <= len(block.rows) <= 8 and sum(widths) <= 38
    return False


def _is_narrow(block: Block) -> bool:
    match block:
        case Code():
            return max(len(line) for line in block.text.split("\n")) <= 44
        case Table():
            return _is_side_piece(block)
        case Listing(items):
            return len(items) <= 7 and all(len(plain(item.runs)) <= 110 for item in items)
        case Paragraph(runs) | Subheading(runs):
            return len(plain(runs)) <= 220
        case _:
            return False


def sentences(runs: Runs) -> list[Runs]:
    """A text cut after each sentence; one long sentence is cut between words about every 400 characters."""
    text = plain(runs)
    cuts = [match.end() for match in _SENTENCE_END.finditer(text) if 0 < match.end() < len(text)]
    if not cuts and len(text) > 500:
        for cut in [match.end() for match in re.finditer(r"\s+", text)] or list(range(400, len(text), 400)):
            if cut - (cuts[-1] if cuts else 0) >= 400 and cut < len(text):
                cuts.append(cut)
    pieces = (cut_runs(runs, start, end) for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True))
    return [piece for piece in pieces if plain(piece).strip()]


def column_shares(columns: tuple[tuple[Block, ...], ...]) -> list[float]:
    """How the slide's width is shared out, by the longest line in each column."""
    if len(columns) == 1:
        return [1.0]
    kinds = [type(block) for column in columns for block in column]
    if len(set(kinds)) == 1 or len(kinds) > 2:
        return [1 / len(columns)] * len(columns)
    longest = [
        max((len(line) for block in column for text in block_texts(block) for line in text.split("\n")), default=1)
        * (1.15 if isinstance(column[0], Listing) else 1.0)
        for column in columns
    ]
    if isinstance(columns[0][0], Table) or isinstance(columns[1][0], Table):
        return [0.5, 0.5]
    left = min(max(longest[0] / sum(longest), 0.36), 0.64)
    return [left, 1 - left]
