"""Drafts the slides of one section: bullets from its prose, its lists, tables, code and quotations as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from ._deck import (
    Block,
    Cards,
    Code,
    Item,
    Listing,
    Paragraph,
    Quote,
    Run,
    Runs,
    Subheading,
    Table,
    block_texts,
    cut_runs,
    plain,
)
from ._digest import Ranking, Sentence, capitalised, shorten, split_sentences, trimmed

if TYPE_CHECKING:
    from ._sections import Section

_Value = TypeVar("_Value")
Kind = Literal["prose", "list", "table", "code", "quote", "rollup"]

MAX_ITEMS = 6
MAX_TABLE_ROWS = 12
MAX_CODE_LINES = 22
WORDS_PER_BULLET = 34
WHOLE_ITEM = 165
_SEPARATORS = (":", "\u2013", "\u2014", "-")
LONGEST_NOTES = 1_600


@dataclass(frozen=True, slots=True)
class Draft:
    """A content slide before it is numbered.

    Attributes:
        title: Its heading.
        blocks: What it shows.
        notes: The speaker notes.
        kind: What it mostly is.
        section: Number of its section, counted over all sections.
        lead: The sentence of its section that introduces it best, for shared slides; may be empty.
        point: The most telling sentence of its section, for takeaways; may be empty.
        weight: How much that one says.
    """

    title: Runs
    blocks: tuple[Block, ...]
    notes: str
    kind: Kind
    section: int
    lead: Runs = ()
    point: Runs = ()
    weight: float = 0.0


class Drafter:
    """Makes the drafts of one text's sections."""

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking

    def drafts(self, index: int, section: Section, *, compact: bool) -> list[Draft]:
        sentences = [
            sentence
            for block in section.blocks
            if isinstance(block, Paragraph)
            for sentence in split_sentences(block.runs)
        ]
        best = self._ranking.best(sentences, 1, topic=section.name)
        lead = shorten(best[0].runs, 120) if best else _first_item(section)
        telling = max(
            sentences, key=lambda sentence: self._ranking.score(sentence, first=False, topic=section.name), default=None
        )
        point = capitalised(shorten(telling.runs, 120)) if telling else lead
        weight = self._ranking.score(telling, first=False, topic=section.name) if telling else 0.5
        if section.level > 1:
            weight -= 0.3
        base = Draft(section.title, (), "", "prose", index, lead, point, weight)
        drafts: list[Draft] = []
        pending: list[Paragraph] = []
        hard = [block for block in section.blocks if not isinstance(block, (Paragraph, Subheading, Cards))]
        brief = compact and bool(hard)
        for number, block in enumerate(section.blocks):
            if isinstance(block, Paragraph):
                pending.append(block)
                continue
            if isinstance(block, (Subheading, Cards)):
                continue
            lead_in, pending = _take_lead_in(pending)
            if caption := section.captions.get(number):
                lead_in = (Run(f"{plain(caption).rstrip('.')}"),)
            if isinstance(block, Listing):
                made = self._list_drafts(base, block, lead_in, pending, brief=brief)
                pending = []
            else:
                if pending and not brief:
                    drafts.extend(self._prose_drafts(base, pending, section.name, compact=compact))
                    spoken = ""
                else:
                    spoken = _spoken(pending)
                    lead_in = lead_in or self._introduction(pending, section.name)
                pending = []
                made = _hard_drafts(base, block, lead_in, spoken)
            drafts.extend(made)
        if pending:
            if brief and drafts:
                drafts[-1] = replace(drafts[-1], notes=joined(drafts[-1].notes, _spoken(pending)))
            else:
                drafts.extend(self._prose_drafts(base, pending, section.name, compact=compact))
        if section.is_sources:
            drafts = drafts[:1]
        return _with_code_beside([draft for draft in drafts if _says_something(draft)])

    def _introduction(self, paragraphs: list[Paragraph], topic: str) -> Runs:
        """One line out of the paragraphs before a table or listing."""
        sentences = [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph.runs)]
        best = self._ranking.best(sentences, 1, topic=topic)
        return shorten(best[0].runs, 120) if best else ()

    def _prose_drafts(self, base: Draft, paragraphs: list[Paragraph], topic: str, *, compact: bool) -> list[Draft]:
        sentences = [sentence for paragraph in paragraphs for sentence in split_sentences(paragraph.runs)]
        if not sentences:
            return []
        words = sum(len(sentence.text.split()) for sentence in sentences)
        slides = 1 if compact or words <= 240 else min(3, -(-words // 240))
        parts = _evenly(sentences, slides)
        return [self._prose_draft(base, part, topic) for part in parts if part]

    def _prose_draft(self, base: Draft, sentences: list[Sentence], topic: str) -> Draft:
        words = sum(len(sentence.text.split()) for sentence in sentences)
        count = min(5, max(3, round(words / WORDS_PER_BULLET)), len(sentences))
        chosen = self._ranking.best(sentences, count, topic=topic)
        bullets = [shorten(sentence.runs) for sentence in chosen]
        whole = all(
            plain(bullet).rstrip(".") == sentence.text.rstrip(". ")
            for bullet, sentence in zip(bullets, chosen, strict=True)
        )
        notes = "" if whole and len(chosen) == len(sentences) else limited(" ".join(s.text for s in sentences))
        blocks: tuple[Block, ...]
        if len(bullets) == 1:  # one bullet is no list
            blocks = (Paragraph(shorten(chosen[0].runs, 220, 260)),)
        else:
            blocks = (Listing(tuple(Item(capitalised(bullet)) for bullet in bullets)),)
        return replace(base, blocks=blocks, notes=notes, kind="prose")

    def _list_drafts(
        self, base: Draft, listing: Listing, lead_in: Runs, before: list[Paragraph], *, brief: bool
    ) -> list[Draft]:
        items = [_short_item(item) for item in listing.items]
        drafts: list[Draft] = []
        sentences = [sentence for paragraph in before for sentence in split_sentences(paragraph.runs)]
        spoken = joined(_spoken(before), plain(lead_in) if len(plain(lead_in)) > 140 else "")
        if len(sentences) > 3 and not brief:
            drafts.extend(self._prose_drafts(base, before, plain(base.title), compact=True))
            spoken = ""
        elif sentences and not lead_in:
            lead_in = shorten(self._ranking.best(sentences, 1, topic=plain(base.title))[0].runs, 140)
        if sum(_item_weight(item) for item in items) < 2:
            lead_in = ()
        chunks = _evenly(items, -(-len(items) // (MAX_ITEMS + 1)) if len(items) > MAX_ITEMS + 1 else 1)
        shortened = any(plain(short.runs) != plain(full.runs) for short, full in zip(items, listing.items, strict=True))
        if shortened:
            spoken = joined(spoken, " ".join(as_sentence(plain(item.runs)) for item in listing.items))
        start = listing.start
        for number, chunk in enumerate(chunks):
            shown: tuple[Block, ...] = (Listing(tuple(chunk), listing.ordered, start),)
            if len(chunk) == 1 and not chunk[0].children and not listing.ordered:
                shown = (Paragraph(chunk[0].runs),)
            if number == 0 and lead_in and len(plain(lead_in)) <= 160:
                shown = (Paragraph(lead_in), *shown)
            drafts.append(replace(base, blocks=shown, notes=limited(spoken) if number == 0 else "", kind="list"))
            start += len(chunk)
        return drafts


def _with_code_beside(drafts: list[Draft]) -> list[Draft]:
    """A few lines of code and the few bullets before or after them on one slide instead of two."""
    together: list[Draft] = []
    for draft in drafts:
        last = together[-1] if together else None
        if (
            last
            and {last.kind, draft.kind} in ({"code", "prose"}, {"code", "list"})
            and _is_small(last)
            and _is_small(draft)
        ):
            together[-1] = replace(
                last, blocks=(*last.blocks, *draft.blocks), notes=joined(last.notes, draft.notes), kind="list"
            )
        else:
            together.append(draft)
    return together


def _says_something(draft: Draft) -> bool:
    """Whether a slide shows a letter or digit at all."""
    return any(character.isalnum() for block in draft.blocks for text in block_texts(block) for character in text)


def _is_small(draft: Draft) -> bool:
    """Whether a slide is at most half full."""
    lines = 0
    for block in draft.blocks:
        if isinstance(block, Code):
            lines += block.text.count("\n") + 2
        elif isinstance(block, Listing):
            lines += sum(1 + len(plain(item.runs)) // 80 + 2 * len(item.children) for item in block.items)
        else:
            lines += 2
    return lines <= 7


def _hard_drafts(base: Draft, block: Block, lead_in: Runs, spoken: str) -> list[Draft]:
    """Slides for a table, a listing or a quotation, with a line of introduction."""
    intro: tuple[Block, ...] = (Paragraph(lead_in),) if 0 < len(plain(lead_in)) <= 150 else ()
    notes = limited(joined(spoken, "" if intro else plain(lead_in)))
    pieces: list[Block] = [block]
    kind: Kind = "quote"
    if isinstance(block, Table):
        kind = "table"
        chunks = _evenly(list(block.rows), -(-len(block.rows) // MAX_TABLE_ROWS) or 1)
        pieces = [replace(block, rows=tuple(chunk)) for chunk in chunks]
    elif isinstance(block, Code):
        kind = "code"
        lines = block.text.split("\n")
        parts = [lines[start : start + MAX_CODE_LINES] for start in range(0, len(lines), MAX_CODE_LINES)]
        pieces = [
            replace(block, text="\n".join(part).strip("\n")) for part in parts if any(line.strip() for line in part)
        ]
    elif isinstance(block, Quote):
        intro = ()
        if sum(len(plain(runs)) for runs in block.paragraphs) > 400:
            runs = block.paragraphs[0]
            pieces = [Quote((trimmed(shorten(split_sentences(runs)[0].runs, 300, 360)),), block.source)]
            notes = joined(notes, " ".join(plain(runs) for runs in block.paragraphs))
    return [
        replace(base, blocks=(*(intro if number == 0 else ()), piece), notes=notes if number == 0 else "", kind=kind)
        for number, piece in enumerate(pieces)
    ]


def _take_lead_in(pending: list[Paragraph]) -> tuple[Runs, list[Paragraph]]:
    """The sentence that introduces what follows ("Three things matter:"), and the paragraphs without it."""
    if not pending or not plain(pending[-1].runs).rstrip().endswith(":"):
        return (), pending
    runs = pending[-1].runs
    sentences = split_sentences(runs)
    last = sentences[-1]
    rest = trimmed(cut_runs(runs, 0, len(plain(runs)) - len(last.text)))
    return last.runs, [*pending[:-1], *([Paragraph(rest)] if plain(rest) else [])]


def _short_item(item: Item) -> Item:
    children = tuple(
        Listing(
            tuple(Item(shorten(child.runs, 90, 120)) for child in listing.items[:4]), listing.ordered, listing.start
        )
        for listing in item.children[:1]
    )
    text = plain(item.runs)
    sentences = split_sentences(item.runs)
    runs = item.runs
    if len(text) > 130 and len(sentences) > 1:
        runs = sentences[0].runs
        if len(plain(runs)) < 40 and len(sentences) > 1:  # "Argand lamp, about 1780." names, the next one tells
            runs = cut_runs(item.runs, 0, text.find(sentences[1].text) + len(sentences[1].text))
    return Item(_keeping_lead(runs), children)


def _keeping_lead(runs: Runs) -> Runs:
    """An item shortened after its bold lead ("**Cost.** …"), which always stays."""
    separated = len(runs) > 1 and (
        runs[0].text.rstrip().endswith((":", ".")) or runs[1].text.lstrip()[:1] in _SEPARATORS
    )
    if separated and runs[0].bold and len(runs[0].text) <= 60:
        lead, rest = runs[0], runs[1:]
        said = plain(rest)
        skipped = len(said) - len(said.lstrip(" :.\u2013\u2014-"))
        body = cut_runs(rest, skipped, len(said))
        if plain(body):
            short = shorten(body, 104, 140)
            return (replace(lead, text=lead.text.rstrip(" :.\u2013\u2014-")), Run(": "), *short)
    return shorten(runs, 130, WHOLE_ITEM)


def _first_item(section: Section) -> Runs:
    for block in section.blocks:
        if isinstance(block, Listing):
            return shorten(block.items[0].runs, 120)
    return ()


def _evenly(values: list[_Value], parts: int) -> list[list[_Value]]:
    """`values` in `parts` consecutive groups whose sizes differ by at most one."""
    parts = max(1, min(parts, len(values)))
    size, more = divmod(len(values), parts)
    groups = []
    start = 0
    for number in range(parts):
        end = start + size + (1 if number < more else 0)
        groups.append(values[start:end])
        start = end
    return groups


def _spoken(paragraphs: list[Paragraph]) -> str:
    return " ".join(" ".join(plain(paragraph.runs).split()) for paragraph in paragraphs)


def as_sentence(text: str) -> str:
    stripped = text.strip()
    return stripped if stripped.endswith((".", "!", "?", ":", ";")) or not stripped else f"{stripped}."


def joined(*texts: str) -> str:
    return " ".join(text.strip() for text in texts if text.strip())


def limited(text: str) -> str:
    """Notes up to `LONGEST_NOTES` characters, ended at a sentence."""
    clean = " ".join(text.split())
    if len(clean) <= LONGEST_NOTES:
        return clean
    kept = ""
    for sentence in split_sentences((Run(clean),)):
        if len(kept) + len(sentence.text) + 1 > LONGEST_NOTES and kept:
            break
        kept = joined(kept, sentence.text)
    return kept[: LONGEST_NOTES * 2]


def _item_weight(item: Item) -> int:
    return 1 + sum(len(listing.items) for listing in item.children)
