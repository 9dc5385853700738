"""What is said on each slide, and its picture: the first worker process of `slides.narrate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packline import PackError

from .._audio.spoken import Sentence, plain_lines, reading_seconds, sentences, split_sentences
from ._deck import Cards, Code, Listing, Paragraph, Quote, Subheading, Table, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._deck import Block, Deck, Item, Slide
    from ._themes import ThemeName

PRELOAD = ("markdown_it", "typst")
#: As for the other formats, see `_job`.
MAX_SLIDES = 200
#: Points of the page's height; 144 points an inch make it 1,080.
_PAGE_HEIGHT = 540
#: Rows of a table that are read out.
_ROWS = 4


@dataclass(frozen=True, slots=True)
class Scene:
    """One slide of the video.

    Attributes:
        picture: Its PNG file.
        title: Its heading; empty without one, and on the later parts of a slide that was split.
        sentences: What is said; empty when nothing is.
        from_notes: Whether that is its notes; else it is what the slide shows.
        leads: Whether it only leads through the talk: title, agenda, section.
    """

    picture: str
    title: str
    sentences: tuple[Sentence, ...]
    from_notes: bool
    leads: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """A deck as pictures.

    Attributes:
        title: Of the deck.
        scenes: In order; at least one.
        minutes: How long saying all of it takes, about.
        warnings: What is not as its author would like it.
    """

    title: str
    scenes: tuple[Scene, ...]
    minutes: float
    warnings: tuple[str, ...]


def draw_slides(
    markdown: str, theme: ThemeName, title: str | None, author: str | None, footer: str | None, height: int, folder: str
) -> Drawn:
    """Typesets slides as pictures in `folder` and finds what is to be said on each."""
    from ._fit import MAX_PAGES, TooManyPagesError, split_warnings
    from ._markdown import read_deck
    from ._typeset import Typesetter

    deck = read_deck(markdown, title=title, author=author, footer=footer)
    if not 0 < len(deck.slides) <= MAX_SLIDES:
        raise PackError(
            "invalid_input",
            f"`markdown` holds {len(deck.slides)} slides; a video has 1 to {MAX_SLIDES}.",
            field="markdown",
            hint="Give slides in Markdown separated by `---` lines, such as the output of `slides.outline`.",
        )
    try:
        typeset = Typesetter(theme).typeset(deck, "png", ppi=72 * height / _PAGE_HEIGHT)
    except TooManyPagesError:
        raise PackError(
            "invalid_input",
            f"`markdown` would fill more than {MAX_PAGES} slides, the most a deck may have.",
            field="markdown",
            hint="Shorten it, for instance with `slides.outline`.",
        ) from None
    slides = typeset.deck.slides
    if len(typeset.content) != len(slides):
        raise PackError("invalid_output", f"{len(typeset.content)} pictures were drawn for {len(slides)} slides.")
    scenes = []
    for number, (slide, picture, (speech, from_notes)) in enumerate(
        zip(slides, typeset.content, speeches(typeset.deck), strict=True), start=1
    ):
        path = Path(folder) / f"slide-{number:03d}.png"
        path.write_bytes(picture)
        leads = slide.layout in ("title", "agenda", "section")
        heading = plain(slide.title).strip() if slide.part[0] == 1 else ""
        scenes.append(Scene(str(path), heading, tuple(sentences(speech)), from_notes, leads))
    minutes = sum(reading_seconds(sentence.said) for scene in scenes for sentence in scene.sentences) / 60
    return Drawn(deck.title, tuple(scenes), minutes, (*typeset.warnings, *split_warnings(typeset.deck)))


def speeches(deck: Deck) -> list[tuple[str, bool]]:
    """For each slide what is said, and whether it comes from its notes.

    Notes of a slide that had to be split are shared out over its parts, as much to each as it shows.
    """
    found: list[tuple[str, bool]] = []
    index = 0
    while index < len(deck.slides):
        count = max(deck.slides[index].part[1], 1)
        group = deck.slides[index : index + count]
        notes = group[0].notes.strip()
        if not notes:
            found += [(shown_text(slide), False) for slide in group]
        elif len(group) == 1:
            found.append((notes, True))
        else:
            found += [(text, True) for text in _shared_out(notes, [len(shown_text(slide)) for slide in group])]
        index += len(group)
    return found


def shown_text(slide: Slide) -> str:
    """What a slide shows, as it would be read out: heading, sentences, lists; no code, of a table its first rows."""
    heading = plain(slide.title) if slide.part[0] == 1 else ""
    return "\n\n".join(text for text in (heading, *(_read_out(block) for block in slide.blocks)) if text.strip())


def _shared_out(notes: str, weights: Sequence[int]) -> list[str]:
    said_all = [sentence for line in plain_lines(notes) for sentence in split_sentences(line)]
    total, length = sum(weights) or 1, sum(map(len, said_all)) or 1
    parts: list[list[str]] = [[] for _ in weights]
    part, said, shown = 0, 0, weights[0]
    for sentence in said_all:
        while part < len(weights) - 1 and (said + len(sentence) / 2) / length > shown / total:
            part += 1
            shown += weights[part]
        parts[part].append(sentence)
        said += len(sentence)
    return [" ".join(part) for part in parts]


def _read_out(block: Block) -> str:
    match block:
        case Paragraph(runs) | Subheading(runs):
            return plain(runs)
        case Listing(items):
            return "\n\n".join(line for item in items for line in _item_lines(item))
        case Quote(paragraphs, source):
            said = " ".join(plain(runs) for runs in paragraphs)
            return f"{said}\n\n{plain(source)}" if source else said
        case Cards(cards):
            return "\n\n".join(f"{plain(lead).rstrip(':. ')}: {plain(body)}" for lead, body in cards)
        case Table(_, rows):
            return "\n\n".join(", ".join(cell for runs in row if (cell := plain(runs).strip())) for row in rows[:_ROWS])
        case Code():
            return ""


def _item_lines(item: Item) -> list[str]:
    nested = [line for listing in item.children for child in listing.items for line in _item_lines(child)]
    return [plain(item.runs), *nested]
