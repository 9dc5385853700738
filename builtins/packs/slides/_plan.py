"""Plans a deck from a text taken apart: which sentence, list, table or listing goes on which slide, within a budget.

First every section gets what it needs. When that is more than there is room for, sections are first digested harder,
then lose their least telling slides, and at last neighbours share a slide with one line each. What is not shown is
spoken: it goes into the notes. Only tables and code can be lost, and that is said.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ._deck import Block, Code, Item, Listing, Paragraph, Run, Runs, Subheading, Table, block_texts, cut_runs, plain
from ._digest import Ranking, alike, capitalised, shorten, split_sentences, trimmed
from ._drafts import MAX_ITEMS, Draft, Drafter, Kind, as_sentence, joined, limited

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._sections import Section, Source

#: What a slide of each kind is worth when some must go; tables and lists hold what prose cannot say in a line.
_WORTH: dict[Kind, float] = {"table": 3.0, "list": 2.6, "prose": 2.4, "code": 2.0, "quote": 1.0, "rollup": 3.0}


@dataclass(frozen=True, slots=True)
class Plan:
    """The content slides of a deck.

    Attributes:
        drafts: In order, parts of one section next to each other.
        agenda: Names of the main sections that have slides.
        takeaways: Three to five bullets, or none when there is too little to take away.
        lost: What could not be shown, in words.
    """

    drafts: list[Draft]
    agenda: list[Runs]
    takeaways: list[Runs]
    lost: list[str]


def plan_deck(source: Source, budget: int) -> Plan:
    """Plans at most `budget` content slides, at least one when there is any content."""
    planner = _Planner(source, budget)
    groups = planner.full()
    lost: list[str] = []
    if sum(map(len, groups)) > budget:
        groups = planner.compact()
    if sum(map(len, groups)) > budget:
        groups, lost = _trimmed(groups, budget)
    if len(groups) > budget:
        groups = planner.rolled_up(groups, budget)
    drafts = [draft for group in groups for draft in group]
    return Plan(drafts, planner.agenda(drafts), planner.takeaways(drafts), lost)


class _Planner:
    """Makes drafts of one text's sections."""

    def __init__(self, source: Source, budget: int) -> None:
        self._source = source
        self._budget = budget
        sections = [source.intro, *source.sections] if source.intro.blocks else list(source.sections)
        self._closing = None
        if len(sections) > 3 and sections[-1].is_summary and sections[-1].words >= 12:
            self._closing = sections.pop()
        self._sections = [section for section in self._chunked(sections) if section.blocks]
        self._words = [section.words for section in self._sections]
        texts = [
            sentence.text
            for section in self._sections
            for block in section.blocks
            if isinstance(block, Paragraph)
            for sentence in split_sentences(block.runs)
        ]
        names = [section.name for section in self._sections]
        self._ranking = Ranking([*texts, *names, plain(source.title)])
        self._drafter = Drafter(self._ranking)

    @property
    def ranking(self) -> Ranking:
        return self._ranking

    def full(self) -> list[list[Draft]]:
        """Drafts of each section, with all it holds."""
        return [drafts for i, s in enumerate(self._sections) if (drafts := self._drafter.drafts(i, s, compact=False))]

    def compact(self) -> list[list[Draft]]:
        """The same with prose digested to one slide, and to a line next to lists and tables."""
        return [drafts for i, s in enumerate(self._sections) if (drafts := self._drafter.drafts(i, s, compact=True))]

    def rolled_up(self, groups: list[list[Draft]], budget: int) -> list[list[Draft]]:
        """Neighbouring sections sharing slides until there are `budget`; the smallest and closest are joined first."""
        clusters = [[group] for group in groups]
        costs = [self._cost(one, other) for one, other in itertools.pairwise(clusters)]
        while len(clusters) > max(budget, 1):
            at = costs.index(min(costs))
            clusters[at : at + 2] = [clusters[at] + clusters[at + 1]]
            around = [pair for pair in (at - 1, at) if 0 <= pair < len(clusters) - 1]
            costs[max(at - 1, 0) : at + 2] = [self._cost(clusters[pair], clusters[pair + 1]) for pair in around]
        return [self._rollup(cluster) for cluster in clusters]

    def _cost(self, one: list[list[Draft]], other: list[list[Draft]]) -> float:
        """What is given up by putting two clusters of sections on one slide, in words."""
        numbers = [group[0].section for group in (*one, *other)]
        sections = [self._sections[number] for number in numbers]
        kinds = [group[0].kind for group in (*one, *other)]
        cost = float(sum(self._words[number] for number in numbers)) + 45.0 * (len(sections) - 2) ** 2
        cost += 90.0 * sum(kind in ("table", "code") for kind in kinds)
        first, second = self._sections[one[-1][0].section], self._sections[other[0][0].section]
        if second.parent and second.parent in (first.name, first.parent):
            cost *= 0.6
        if any(section.is_sources for section in sections):
            cost += 500.0
        return cost

    def agenda(self, drafts: list[Draft]) -> list[Runs]:
        named: dict[str, Runs] = {}
        top = min((self._sections[draft.section].level for draft in drafts if draft.kind != "rollup"), default=1)
        for draft in drafts:
            section = self._sections[draft.section]
            if section.is_sources:
                continue
            if draft.kind == "rollup" or section.level <= max(top, 1):
                named.setdefault(plain(draft.title), draft.title)
            elif section.parent:
                named.setdefault(section.parent, (Run(section.parent),))
        return list(named.values())

    def takeaways(self, drafts: list[Draft]) -> list[Runs]:
        """The document's own summary in bullets, else the most telling line of the weightiest sections."""
        if self._closing is not None:
            bullets = self._summary_bullets(self._closing)
            if len(bullets) >= 2:
                return bullets
        if len(drafts) < 3:
            return []
        leads: dict[int, Draft] = {}
        for draft in drafts:
            if draft.point and not self._sections[draft.section].is_sources:
                leads.setdefault(draft.section, draft)
        ranked = sorted(leads.values(), key=lambda draft: (-draft.weight, draft.section))
        chosen: list[Draft] = []
        for draft in ranked:
            if len(chosen) == 5:
                break
            if not any(alike(plain(draft.point), plain(other.point)) for other in chosen):
                chosen.append(draft)
        return [draft.point for draft in sorted(chosen, key=lambda draft: draft.section)] if len(chosen) >= 2 else []

    # ---- sections

    def _chunked(self, sections: list[Section]) -> Iterable[Section]:
        """Sections as they are; a text without headings is cut between paragraphs, each piece named by what it says."""
        if self._source.headed:
            for section in sections:
                yield section if section.title else replace(section, title=(Run("At a glance"),))
            return
        blocks = [block for section in sections for block in section.blocks]
        words = [len(" ".join(block_texts(block)).split()) for block in blocks]
        target = max(40, sum(words) // max(self._budget, 1))
        if blocks and isinstance(blocks[0], Paragraph):
            blocks[0] = _without_title(blocks[0], self._source.title)
        piece: list[Block] = []
        size = 0
        for block, count in zip(blocks, words, strict=True):
            if piece and size + count / 2 > target and not isinstance(block, (Listing, Table, Code)):
                yield _named(piece)
                piece, size = [], 0
            piece.append(block)
            size += count
        if piece:
            yield _named(piece)

    def _summary_bullets(self, section: Section) -> list[Runs]:
        for block in section.blocks:
            if isinstance(block, Listing) and len(block.items) >= 2:
                return [shorten(item.runs, 120) for item in block.items[:5]]
        sentences = [s for block in section.blocks if isinstance(block, Paragraph) for s in split_sentences(block.runs)]
        best = self._ranking.best(sentences, min(4, len(sentences)), topic=section.name)
        return [capitalised(shorten(sentence.runs, 120)) for sentence in best]

    def _rollup(self, groups: list[list[Draft]]) -> list[Draft]:
        if len(groups) == 1:
            return groups[0]
        firsts = [group[0] for group in groups]
        notes = limited(" ".join(_words_of(draft) for group in groups for draft in group))
        best = max(firsts, key=lambda draft: draft.weight)
        blocks = self._side_by_side(firsts) if len(firsts) == 2 else None
        blocks = blocks or (Listing(tuple(_one_line(draft) for draft in _weightiest(firsts))),)
        title = self._shared_title(firsts)
        return [replace(best, title=title, blocks=blocks, notes=notes, kind="rollup", section=firsts[0].section)]

    def _shared_title(self, drafts: list[Draft]) -> Runs:
        """The section they all lie in, unless that has its own slide; else the first and last name."""
        sections = [self._sections[draft.section] for draft in drafts]
        if sections[0].level == 0:
            return (Run("Overview"),)
        if all(section.parent == sections[0].name for section in sections[1:]):
            return sections[0].title
        parents = {section.parent for section in sections}
        parent = parents.pop()
        with_slides = {section.name for section in self._sections}
        if parent and not parents and parent not in with_slides:
            return (Run(parent),)
        return _joint_title(drafts)

    def _side_by_side(self, drafts: list[Draft]) -> tuple[Block, ...] | None:
        """Two sections as two columns of a heading and up to three bullets, when both have bullets."""
        blocks: list[Block] = []
        for draft in drafts:
            listing = next((block for block in draft.blocks if isinstance(block, Listing)), None)
            if listing is None or len(listing.items) < 2 or len(plain(draft.title)) > 44:
                return None
            short = [Item(shorten(item.runs, 84, 110)) for item in listing.items[:6]]
            whole = [item for item in short if not plain(item.runs).endswith("\u2026")]
            items = tuple((whole if len(whole) > 1 and not listing.ordered else short)[:3])
            if any(len(plain(item.runs)) > 110 for item in items):
                return None
            blocks.extend((Subheading(draft.title), Listing(items, listing.ordered, listing.start)))
        return tuple(blocks)


def _weightiest(drafts: list[Draft]) -> list[Draft]:
    ranked = sorted(drafts, key=lambda draft: -draft.weight)[:MAX_ITEMS]
    return sorted(ranked, key=lambda draft: draft.section)


def _one_line(draft: Draft) -> Item:
    name = plain(draft.title).rstrip(".:")
    said: Runs = draft.lead if plain(draft.lead) and not alike(plain(draft.lead), name) else ()
    said = tuple(replace(run, bold=False) for run in shorten(said, 96)) if said else ()
    return Item((Run(name, bold=True), *((Run(": "), *said) if said else ())))


def _trimmed(groups: list[list[Draft]], budget: int) -> tuple[list[list[Draft]], list[str]]:
    """Takes the least telling slides off sections that have several, until `budget` is met or each has one."""
    kept = [list(group) for group in groups]
    lost = {"table": 0, "code": 0}
    while sum(map(len, kept)) > budget:
        candidates = [
            (_WORTH[draft.kind] + 0.2 * draft.weight - 0.35 * position - 0.3 * len(group), number, position)
            for number, group in enumerate(kept)
            if len(group) > 1
            for position, draft in enumerate(group)
        ]
        if not candidates:
            break
        _, number, position = min(candidates)
        gone = kept[number].pop(position)
        if gone.kind in lost:
            lost[gone.kind] += 1
        near = max(0, min(position, len(kept[number])) - 1)
        beside = kept[number][near]
        kept[number][near] = replace(beside, notes=limited(joined(beside.notes, _words_of(gone))))
    words = {"table": ("table", "tables"), "code": ("code listing", "code listings")}
    said = [f"{count} {words[kind][0 if count == 1 else 1]}" for kind, count in lost.items() if count]
    return kept, said


def _words_of(draft: Draft) -> str:
    if draft.notes or draft.kind in ("table", "code"):
        return draft.notes
    return " ".join(as_sentence(text) for block in draft.blocks for text in block_texts(block))


def _named(blocks: list[Block]) -> Section:
    """A piece of a text without headings, named by its first sentence, which then need not be said again."""
    from ._sections import Section

    for index, block in enumerate(blocks):
        if isinstance(block, Paragraph) and (sentences := split_sentences(block.runs)):
            title = tuple(replace(run, bold=False, href=None) for run in shorten(sentences[0].runs, 64, 84))
            kept = list(blocks)
            if len(sentences) > 1 and len(plain(title)) + 14 >= len(sentences[0].text):
                kept[index] = _without_title(block, sentences[0].runs)
            return Section(capitalised(title), 1, kept)
    return Section((Run("In detail"),), 1, blocks)


def _without_title(paragraph: Paragraph, title: Runs) -> Paragraph:
    """A paragraph without its first sentence when the title says it already and there are others."""
    sentences = split_sentences(paragraph.runs)
    if len(sentences) < 2 or not alike(sentences[0].text, plain(title)):
        return paragraph
    text = plain(paragraph.runs)
    start = text.find(sentences[0].text) + len(sentences[0].text)
    return Paragraph(trimmed(cut_runs(paragraph.runs, start, len(text))))


def _joint_title(drafts: list[Draft]) -> Runs:
    names = [plain(draft.title) for draft in drafts]
    joint = f"{names[0]} \u2013 {names[-1]}"
    if len(joint) <= 64:
        return (Run(joint),)
    return (Run(names[0]),) if len(names) == 1 else (Run(f"{names[0]} and more"),)
