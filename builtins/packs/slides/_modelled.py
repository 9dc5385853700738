"""Slides written by a model: what it is asked for, what is sent back to it, and how its answer becomes slides.

The model hands over headings, short Markdown and notes; the Markdown of the deck is written here, by the same writer as
without a model, so that both modes give the renderer the same form and nothing in an answer can break out of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field, model_validator

from .._writing import MATERIAL_RULE, asked, blanks, count_words, listed, material, one_line, unwrapped

if TYPE_CHECKING:
    from ._deck import Block
    from ._job import OutlineResult
    from ._outline_input import Input

#: Imported before a worker starts on a job.
PRELOAD = ("markdown_it",)

BODY_CHARS = 1_500
HEADING_CHARS = 120
SOURCE_ENTRIES = 12
#: A text with fewer words leaves a model nothing to write from but its own fancy.
FEWEST_WORDS = 8

Kind = Literal["content", "section", "quote", "closing"]

INSTRUCTIONS = f"""You turn a text into the slides of a talk.

{MATERIAL_RULE}

- Say only what the text says: no fact, figure, name, quotation or address from anywhere else.
- Every slide makes one point, and its heading says it in at most nine words.
- The body is Markdown: three to five bullets of at most fourteen words without full stops, or one small table, a few \
lines of code, or a quotation, where the text has them. No headings, no pictures, no more than fits a slide.
- Keep marks such as [1] behind what they stand behind. Leave out the text's own list of sources; it is added.
- The notes are what the speaker says: forty to ninety words of whole sentences to be read aloud, without markup, \
marks or "this slide". They tell more than the bullets do, and lead on to the next slide.
- The order tells a story: why it matters to these listeners, what there is to know, what follows. The last slide is \
of kind `closing`: three to five things to take away.
- Speak to the listeners named, in the voice named; leave out what they do not need.
- Write in the language of the text."""
_PICTURES = """
- picture: for slides of kind `content`, one sentence that describes an illustration for it: things one can see, no \
words in it, no real persons. Empty for the others."""

_FENCED = re.compile(r"(?ms)(^```.*?^```[ \t]*$|^~~~.*?^~~~[ \t]*$)")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_SOURCES = re.compile(r"(?im)^#{1,3}[ \t]+(?:related )?(?:sources|references|bibliography)[ \t#]*$")
_SOURCES_NAME = re.compile(r"(?:related )?(?:sources|references|bibliography)\W*\Z", re.IGNORECASE)
_UNREAD = re.compile(r"<!--.*?-->|!\[[^\]]*\]\([^)]*\)|(?m:^#{1,6} [^\n]*$)", re.DOTALL)


class SlideDraft(BaseModel):
    """One slide."""

    kind: Kind = "content"
    heading: str = Field(description="The slide's point, at most nine words.")
    body: str = Field(description="Bullets, a table, code or a quotation in Markdown; empty for kind `section`.")
    notes: str = Field(description="What the speaker says, whole sentences.")


class PicturedSlideDraft(SlideDraft):
    """One slide with a picture to be made for it."""

    picture: str = Field(default="", description="What an illustration next to it shows; empty for none.")


class DeckDraft(BaseModel):
    """The slides of a talk, its title slide left out."""

    title: str = Field(description="Title of the talk, three to ten words.")
    subtitle: str = Field(default="", description="One line under it, at most sixteen words; may be empty.")
    slides: list[SlideDraft] = Field(min_length=1)


def deck_shape(source: str, most: int, *, pictures: bool) -> type[DeckDraft]:
    """`DeckDraft` with what a deck of this source must fulfil; what does not goes back to the model once."""

    class Checked(DeckDraft):
        if pictures:
            slides: list[PicturedSlideDraft] = Field(min_length=1)  # type: ignore[assignment]

        @model_validator(mode="after")
        def _fits(self) -> Checked:
            if len(self.slides) > most:
                raise ValueError(f"there are {len(self.slides)} slides; make at most {most}.")
            for number, slide in enumerate(self.slides, 1):
                if not one_line(slide.heading):
                    raise ValueError(f"slide {number} has no heading.")
                if slide.kind != "section" and not re.search(r"\w", slide.body):
                    raise ValueError(f"slide {number} has an empty body.")
                if len(slide.body) > BODY_CHARS:
                    raise ValueError(f"the body of slide {number} is too long for a slide; shorten or split it.")
                if found := blanks(f"{slide.heading}\n{slide.body}\n{slide.notes}", source):
                    raise ValueError(f"slide {number} has blanks to fill in: {listed(found)}.")
            return self

    Checked.__name__ = Checked.__qualname__ = DeckDraft.__name__
    Checked.__doc__ = DeckDraft.__doc__
    return Checked


def has_enough(text: str) -> bool:
    """Whether a text says anything besides headings, comments and pictures."""
    return count_words(_UNREAD.sub(" ", text)) >= FEWEST_WORDS


def room_for_content(text: str, max_slides: int) -> int:
    """Slides a model may fill: the title, and the text's list of sources where it has one, are made here."""
    return max(1, max_slides - 1 - (1 if _SOURCES.search(text) and max_slides > 3 else 0))


def instructions_for(input: Input) -> str:
    """The system's turn."""
    return INSTRUCTIONS + (_PICTURES if input.include_image_prompts else "")


def prompt_for(input: Input, text: str, most: int) -> str:
    """What is wanted, and the text as material."""
    words = count_words(text)
    fitting = min(most, max(3, words // 60))
    wanted = asked(
        title=input.title,
        listeners=input.audience,
        angle=input.angle,
        voice=input.persona,
        length=f"about {fitting} slides, never more than {most}" if fitting < most else f"at most {most} slides",
    )
    return f"Make the slides.\n\n{wanted}\n\n{material('text', text)}"


def shown_text(draft: DeckDraft) -> str:
    """All that a draft says, for comparing it with its source."""
    parts = [draft.title, draft.subtitle]
    parts += [text for slide in draft.slides for text in (slide.heading, slide.body, slide.notes)]
    return "\n".join(parts)


def write_modelled(
    draft: dict[str, object], text: str, max_slides: int, title: str | None, author: str | None, audience: str | None
) -> OutlineResult:
    """The draft as slides in Markdown; runs in a worker process, takes and gives plain values."""
    from ._deck import Paragraph, Run
    from ._write import write_slide

    answer = _Answer.model_validate(draft)
    shown = one_line(title) or one_line(answer.title) or "Untitled"
    meta = " \u00b7 ".join(filter(None, (one_line(author), f"For {one_line(audience)}" if one_line(audience) else "")))
    subtitle = one_line(answer.subtitle)
    lines = [line for line in (subtitle if subtitle.lower() != shown.lower() else "", meta) if line]
    slides = [write_slide((Run(shown),), [Paragraph((Run(line),)) for line in lines], level=1, layout="title")]
    prompts: list[tuple[int, str]] = []
    for slide in answer.slides:
        blocks = _blocks(slide.body)
        layout = "" if slide.kind == "content" else slide.kind
        slides.append(write_slide((Run(_heading(slide.heading)),), blocks, layout=layout, notes=_notes(slide.notes)))
        if slide.kind == "content" and (picture := one_line(slide.picture)):
            prompts.append((len(slides), picture[:600]))
    if len(slides) < max_slides and (sources := _sources_slide(text)):
        slides.append(sources)
    return {
        "markdown": "\n\n---\n\n".join(slides) + "\n",
        "slide_count": len(slides),
        "title": shown,
        "image_prompts": prompts,
        "warnings": [],
    }


class _Answer(DeckDraft):
    slides: list[PicturedSlideDraft]  # type: ignore[assignment]


def _blocks(markdown: str) -> list[Block]:
    from ._deck import Subheading
    from ._markdown import Heading, read_document

    parts = read_document(_without_comments(unwrapped(markdown)))
    return [Subheading(part.runs) if isinstance(part, Heading) else part for part in parts]


def _heading(text: str) -> str:
    line = re.sub(r"^#{1,6}\s+", "", one_line(_without_comments(text))).replace("**", "").rstrip(".:")
    return line if len(line) <= HEADING_CHARS else f"{line[: HEADING_CHARS - 1].rsplit(' ', 1)[0]}\u2026"


def _without_comments(text: str) -> str:
    """The text without comments outside fenced code: in slides they are notes and layouts, which are set apart."""
    pieces = _FENCED.split(text)
    return "".join(piece if number % 2 else _COMMENT.sub("", piece) for number, piece in enumerate(pieces))


def _notes(text: str) -> str:
    """Spoken text in paragraphs, without list marks and emphasis, which a voice would stumble over."""
    plain = re.sub(r"(?m)^\s*(?:[-*+]|#{1,6})\s+", "", _without_comments(unwrapped(text))).replace("**", "")
    return "\n\n".join(one_line(paragraph) for paragraph in re.split(r"\n\s*\n", plain) if paragraph.strip())


def _sources_slide(text: str) -> str:
    """The text's own list of sources as a slide; empty when it has none."""
    from dataclasses import replace

    from ._deck import Listing
    from ._sections import read_source
    from ._write import write_slide

    if not (start := _SOURCES.search(text)):
        return ""
    source = read_source(f"# -\n\n{text[start.start() :]}")
    for section in source.sections:
        listing = next((block for block in section.blocks if isinstance(block, Listing)), None)
        if listing is not None and _SOURCES_NAME.match(section.name):
            return write_slide(section.title, [replace(listing, items=listing.items[:SOURCE_ENTRIES])])
    return ""
