"""Writes a planned deck as slide Markdown: title, agenda, content, takeaways."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ._deck import Item, Listing, Paragraph, Run, Runs, block_texts, plain
from ._digest import Ranking, shorten, split_sentences
from ._plan import plan_deck
from ._sections import Source, read_source
from ._write import write_slide

if TYPE_CHECKING:
    from ._drafts import Draft

#: An agenda helps from the fifth section on; a longer one than this says nothing.
AGENDA_FROM = 5
AGENDA_ENTRIES = 12


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted of an outline besides its text.

    Attributes:
        max_slides: Most slides in all.
        title: Title instead of the text's own.
        author: Shown on the title slide.
        audience: Shown on the title slide.
        angle: Shown on the title slide as the subtitle.
        image_prompts: Whether to describe a picture for each content slide.
    """

    max_slides: int
    title: str | None = None
    author: str | None = None
    audience: str | None = None
    angle: str | None = None
    image_prompts: bool = False


@dataclass(frozen=True, slots=True)
class Outline:
    """Slides as Markdown.

    Attributes:
        markdown: One slide between `---` lines.
        slide_count: How many there are.
        title: The deck's title, plain.
        image_prompts: Number of the slide and a description of a picture for it.
        warnings: What was left out.
    """

    markdown: str
    slide_count: int
    title: str
    image_prompts: tuple[tuple[int, str], ...]
    warnings: tuple[str, ...]


def compose(text: str, request: Request) -> Outline | None:
    """The outline of `text`, or None when it holds too little for a slide besides the title."""
    source = read_source(text)
    title = _title(source, request)
    main = [section for section in source.sections if section.level == 1]
    has_agenda = len(main) >= AGENDA_FROM and request.max_slides >= 8
    budget = max(1, request.max_slides - 1 - (1 if has_agenda else 0) - (1 if request.max_slides > 3 else 0))
    plan = plan_deck(source, budget)
    if not plan.drafts:
        return None
    slides = [_title_slide(source, title, request)]
    agenda = plan.agenda[:AGENDA_ENTRIES]
    if has_agenda and len(agenda) >= AGENDA_FROM:
        items = tuple(Item(tuple(_unlinked(entry))) for entry in agenda)
        if len(plan.agenda) > AGENDA_ENTRIES:
            items = (*items[:-1], Item((Run(f"And {len(plan.agenda) - AGENDA_ENTRIES + 1} more"),)))
        slides.append(write_slide((Run("Agenda"),), [Listing(items, ordered=True)], layout="agenda"))
    first_content = len(slides) + 1
    slides.extend(_content_slides(plan.drafts))
    if plan.takeaways and len(slides) < request.max_slides:
        bullets = Listing(tuple(Item(bullet) for bullet in plan.takeaways))
        slides.append(write_slide((Run("Key takeaways"),), [bullets], layout="closing"))
    prompts = _image_prompts(plan.drafts, first_content) if request.image_prompts else ()
    return Outline("\n\n---\n\n".join(slides) + "\n", len(slides), title, prompts, _warnings(source, plan.lost))


def _title(source: Source, request: Request) -> str:
    wanted = (request.title or "").strip() or plain(source.title).strip()
    return " ".join(wanted.split()) or "Untitled"


def _title_slide(source: Source, title: str, request: Request) -> str:
    lines: list[Paragraph] = []
    subtitle = (request.angle or "").strip() or plain(source.subtitle).strip()
    if not subtitle and source.sections:
        lead = next((block for block in source.intro.blocks if isinstance(block, Paragraph)), None)
        sentences = split_sentences(lead.runs) if lead else []
        if sentences and len(sentences[0].text) <= 130:
            subtitle = plain(shorten(sentences[0].runs, 130))
    if subtitle and subtitle.lower() != title.lower():
        lines.append(Paragraph((Run(subtitle),)))
    author = (request.author or "").strip() or source.author
    audience = (request.audience or "").strip()
    meta = " \u00b7 ".join(part for part in (author, f"For {audience}" if audience else "") if part)
    if meta:
        lines.append(Paragraph((Run(meta),)))
    return write_slide((Run(title),), lines, level=1, layout="title")


def _content_slides(drafts: list[Draft]) -> list[str]:
    """Drafts as Markdown; neighbours of one title are numbered "(1/2)"."""
    totals = Counter(_group(draft) for draft in drafts)
    seen: Counter[tuple[int, str]] = Counter()
    slides = []
    for draft in drafts:
        key = _group(draft)
        seen[key] += 1
        heading: Runs = tuple(_unlinked(draft.title))
        if totals[key] > 1:
            heading = (*heading, Run(f" ({seen[key]}/{totals[key]})"))
        slides.append(write_slide(heading, draft.blocks, notes=draft.notes))
    return slides


def _group(draft: Draft) -> tuple[int, str]:
    return draft.section, plain(draft.title)


def _unlinked(runs: Runs) -> list[Run]:
    """A heading's text without links, which a title cannot show."""
    return [Run(run.text.replace("\n", " "), False, run.italic, run.code, run.strike) for run in runs]


def _image_prompts(drafts: list[Draft], first: int) -> tuple[tuple[int, str], ...]:
    """For each slide of prose or bullets, what a picture next to it should show."""
    shown = [" ".join(text for block in draft.blocks for text in block_texts(block)) for draft in drafts]
    ranking = Ranking(shown)
    prompts = []
    for number, (draft, text) in enumerate(zip(drafts, shown, strict=True), start=first):
        if draft.kind in ("table", "code"):
            continue
        words = ", ".join(ranking.keywords(f"{plain(draft.title)} {text}", 5))
        prompts.append(
            (number, f"Editorial illustration for \u201c{plain(draft.title)}\u201d: {words}. Wide 16:9, calm, no text.")
        )
    return tuple(prompts)


def _warnings(source: Source, lost: list[str]) -> tuple[str, ...]:
    warnings = []
    if lost:
        warnings.append(f"Left out for want of room: {' and '.join(lost)}; raise `max_slides` to keep them.")
    if source.left_out:
        names = ", ".join(f"\u201c{name}\u201d" for name in source.left_out[:5])
        warnings.append(f"Set aside as not part of the text: {names}.")
    return tuple(warnings)
