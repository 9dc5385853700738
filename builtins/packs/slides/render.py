"""`slides.render`: slide Markdown in, a PDF, PowerPoint or HTML deck out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, pack, python_module

from .._file_names import file_stem
from ._job import MAX_SLIDES, Format, Theme, render_deck

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile

RENDER_SECONDS = 150.0

_MEDIA_TYPES: dict[Format, str] = {
    "pdf": "application/pdf",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "html": "text/html; charset=utf-8",
}
#: Libraries each format needs beyond the base installation.
_LIBRARIES: dict[Format, tuple[str, ...]] = {"pdf": ("typst",), "pptx": ("typst", "pptx"), "html": ()}
#: What a file of each format begins with.
_SIGNATURES: dict[Format, bytes] = {"pdf": b"%PDF-", "pptx": b"PK\x03\x04", "html": b"<!doctype html>"}


class Input(BaseModel):
    """The slides and how they should look."""

    markdown: str = Field(
        max_length=400_000,
        description="Slides in Markdown, one between `---` lines; `slides.outline` writes this. A heading is the "
        "slide's title. `<!-- notes: … -->` holds what the speaker says, `<!-- layout: … -->` asks for one of title, "
        "section, agenda, content, quote, closing.",
        examples=["# Hello\n\nA first deck\n\n---\n\n## One thing\n\n- It works\n- It is quick"],
    )
    format: Format = Field(default="pdf", description="File to make: `pdf`, `pptx` (PowerPoint) or `html`.")
    theme: Theme = Field(default="light", description="Look of the slides.")
    title: str | None = Field(
        default=None, max_length=300, description="Title in the file's properties; else the first slide's."
    )
    author: str | None = Field(default=None, max_length=200, description="Author in the file's properties.")
    footer: str | None = Field(
        default=None, max_length=200, description="Line at the foot of each slide; else the title. Empty for none."
    )


class Output(BaseModel):
    """The deck and what is known about it."""

    artifact: ArtifactRef = Field(description="The deck.")
    pages: int = Field(ge=1, description="Pages of the PDF, slides of the presentation.")
    format: Format = Field(description="What was made.")
    theme: Theme = Field(description="Look of the slides.")
    title: str = Field(description="Title in the file's properties.")
    warnings: list[str] = Field(description="What is not as the Markdown says: splits, pictures, missing characters.")


def _is_whole(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        start = opened.read(16)
    if not start.startswith(_SIGNATURES[output.format]):
        return f"the file does not begin like a {output.format} file"
    return None


@pack(
    "slides.render",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=180,
    post_conditions=[PostCondition("the deck is a readable file of the format asked for", _is_whole)],
    metadata=Metadata(
        accepts=["outline_markdown", "markdown"],
        produces=["slide_deck", "pdf", "pptx", "html"],
        intent_keywords=[
            "render slides",
            "make a deck",
            "slides to pdf",
            "powerpoint file",
            "markdown slides",
            "export presentation",
            "html slides",
            "typeset slides",
        ],
        example_intents=[
            "Turn these Markdown slides into a PDF",
            "I need this as a PowerPoint file by noon",
            "Render my deck in the dark theme",
            "export the outline as pptx with the speaker notes in it",
            "Make an HTML presentation I can open in the browser without internet",
            "Give the slides the corporate look and put our name at the bottom",
            "My Marp file should become a PDF, no Chrome please",
            "Can you typeset this talk?",
            "Same slides again, but warm colours",
        ],
        typical_use="Use this when slides are already written in Markdown and a finished PDF, PowerPoint or HTML file "
        "is wanted.",
        limitations=[
            "Does not shorten or rewrite text: a slide with too much on it is split in two; to make slides from prose "
            "use `slides.outline` first.",
            "Shows text, tables, code and quotes; pictures, diagrams and formulas are left out or shown as text.",
            "Has four themes; Marp's own themes and styles are ignored.",
            "Chinese, Japanese, Korean and emoji need a font on the machine; what is missing is named in a warning.",
            "Makes no animations, sound or video; for a narrated video use `slides.narrate`.",
            "PDF and PowerPoint need the `slides` extra; HTML works without it.",
            f"At most {MAX_SLIDES} slides.",
        ],
    ),
)
async def render(ctx: PackContext, input: Input) -> Output:
    """Typesets slide Markdown as a PDF, PowerPoint or HTML deck.

    Slides are separated by `---` lines (without any, each first- or second-level heading starts one). Titles, lists,
    tables, code, quotes, bold, italics and links are shown in one of four themes; type shrinks a little where a slide
    is full, and what still does not fit goes on a second slide, never off the page. PDF carries bookmarks, tags and
    properties; PowerPoint has native text, tables and speaker notes; HTML is one file with keys to page and no outside
    address.
    """
    if not input.markdown.strip():
        raise PackError(
            "invalid_input",
            "`markdown` is empty, so there are no slides to render.",
            field="markdown",
            hint="Give slides in Markdown separated by `---` lines, such as the output of `slides.outline`.",
        )
    _require_libraries(input.format)
    ctx.progress(0.1, f"Typesetting as {input.format.upper()}")
    made = await ctx.run_in_process(
        render_deck,
        input.markdown,
        input.format,
        input.theme,
        input.title,
        input.author,
        input.footer,
        timeout_seconds=RENDER_SECONDS,
    )
    for warning in made["warnings"]:
        ctx.warn(warning)
    ctx.progress(0.9, f"Saving {made['pages']} slides")
    name = f"{file_stem(made['title'], 'slides')}.{input.format}"
    artifact = await ctx.save_artifact(name, made["content"], _MEDIA_TYPES[input.format])
    ctx.progress(1.0, f"{made['pages']} slides in {name}")
    return Output(
        artifact=artifact,
        pages=made["pages"],
        format=input.format,
        theme=input.theme,
        title=made["title"],
        warnings=made["warnings"],
    )


def _require_libraries(wanted: Format) -> None:
    """Raises when the format's libraries are not installed; HTML needs none, so this is not a service of the pack."""
    for module in _LIBRARIES[wanted]:
        missing = python_module(module, extra="slides").probe()
        if missing is not None:
            raise PackError(
                "invalid_input",
                f"{wanted.upper()} decks cannot be made here: {missing.message}",
                field="format",
                hint=f"{missing.hint} Or choose format `html`, which works without it.",
            )
