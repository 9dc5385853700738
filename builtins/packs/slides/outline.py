"""`slides.outline`: a text in, slides in Markdown out."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypedDict

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, pack

OUTLINE_SECONDS = 60.0


class Input(BaseModel):
    """The text and how to present it."""

    text: str = Field(
        max_length=500_000,
        description="What to make slides of: Markdown (its headings become sections) or plain text.",
    )
    title: str | None = Field(
        default=None, max_length=200, description="Title of the deck; else the text's own, else its first sentence."
    )
    author: str | None = Field(default=None, max_length=120, description="Shown on the title slide.")
    audience: str | None = Field(
        default=None, max_length=100, description="Who it is for, such as `new engineers`; shown on the title slide."
    )
    persona: str | None = Field(
        default=None, max_length=100, description="Voice to write in; has no effect while no model writes."
    )
    angle: str | None = Field(
        default=None, max_length=160, description="What to stress; shown on the title slide as its subtitle."
    )
    max_slides: int = Field(default=14, ge=3, le=40, description="Most slides in all, title and closing included.")
    export_outline: bool = Field(default=False, description="Also save the slides' Markdown as a file.")
    include_image_prompts: bool = Field(
        default=False, description="Also describe a picture for each slide of text, for `image.generate`."
    )


class ImagePrompt(BaseModel):
    """A picture somebody might make for a slide."""

    slide: int = Field(ge=1, description="Number of the slide.")
    prompt: str = Field(description="What the picture should show.")


class Output(BaseModel):
    """Slides in Markdown."""

    markdown: str = Field(
        description="One slide between `---` lines, speaker notes as `<!-- notes: … -->`; made for `slides.render`."
    )
    slide_count: int = Field(ge=2, description="Slides in `markdown`.")
    title: str = Field(description="Title of the deck.")
    mode: Literal["deterministic"] = Field(
        description="How it was written: `deterministic` picks and shortens the text's own sentences, without a model."
    )
    outline_artifact: ArtifactRef | None = Field(description="The Markdown as a file, when `export_outline` was set.")
    image_prompts: list[ImagePrompt] = Field(description="Empty unless `include_image_prompts` was set.")


class Made(TypedDict):
    """What the worker process hands back; `markdown` is empty when the text holds too little."""

    markdown: str
    slide_count: int
    title: str
    image_prompts: list[tuple[int, str]]
    warnings: list[str]


def _count_is_true(output: Output, _files: object) -> str | None:
    found = len(re.findall(r"(?m)^---$", output.markdown)) + 1
    if found < output.slide_count:
        return f"`markdown` has {found} slides, not {output.slide_count}"
    return None


@pack(
    "slides.outline",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=90,
    post_conditions=[PostCondition("the Markdown has as many slides as it says", _count_is_true)],
    metadata=Metadata(
        accepts=["markdown", "text", "source_content", "grounded_markdown", "blog_markdown", "brief"],
        produces=["outline_markdown"],
        intent_keywords=[
            "slide outline",
            "outline a talk",
            "text to slides",
            "article to slides",
            "bullet points",
            "summarise into slides",
            "presentation structure",
            "speaker notes",
        ],
        example_intents=[
            "Turn this article into slides",
            "Outline a talk from my notes, ten slides at most",
            "I have a long report; give me the deck structure with speaker notes",
            "Break this README down into a presentation",
            "make bullet points out of this text so I can present it tomorrow",
            "Slides for new engineers from our design document",
            "Condense the meeting minutes into a short deck",
            "What would this paper look like as a talk?",
            "Draft the slides, I will do the design myself",
        ],
        typical_use="Use this when slides are wanted from a text, before `slides.render` makes the file.",
        limitations=[
            "Works without a model: it picks and shortens the text's own sentences and writes no new ones.",
            "Persona, audience and angle do not change the wording; audience and angle show on the title slide.",
            "Keeps tables, code and quotes; leaves pictures out.",
            "Judges best on texts with headings; in English it also knows which words carry no meaning.",
            "Does not translate and does not check facts; for sources use `content.ground`.",
            "Gives Markdown, not a file to present; for that use `slides.render`.",
        ],
    ),
)
async def outline(ctx: PackContext, input: Input) -> Output:
    """Makes slides out of a text: title, agenda, sections with three to six bullets, and takeaways.

    Needs no model: sections follow the text's headings, bullets are its most telling sentences shortened at clause
    borders, and what is not shown is kept as speaker notes. Tables, code, quotes and lists stay what they are. The same
    text gives the same slides.
    """
    from ._job import outline_text

    if not input.text.strip():
        raise PackError(
            "invalid_input",
            "`text` is empty, so there is nothing to make slides of.",
            field="text",
            hint="Give the text to present, as Markdown or plain text.",
        )
    _warn_about_voice(ctx, input)
    ctx.progress(0.1, f"Reading {len(input.text.split()):,} words")
    made: Made = await ctx.run_in_process(
        outline_text,
        input.text,
        input.max_slides,
        input.title,
        input.author,
        input.audience,
        input.angle,
        input.include_image_prompts,
        timeout_seconds=OUTLINE_SECONDS,
    )
    if not made["markdown"]:
        raise PackError(
            "invalid_input",
            "`text` holds too little to make slides of: no sentence, list, table or code beside its title.",
            field="text",
            hint="Give a few sentences at least; a paragraph for each slide is a good measure.",
        )
    for warning in made["warnings"]:
        ctx.warn(warning)
    ctx.progress(0.8, f"{made['slide_count']} slides outlined")
    artifact = None
    if input.export_outline:
        name = f"{_file_stem(made['title'])}-outline.md"
        artifact = await ctx.save_artifact(name, made["markdown"].encode(), "text/markdown; charset=utf-8")
    ctx.progress(1.0, f"{made['slide_count']} slides: {made['title']}")
    return Output(
        markdown=made["markdown"],
        slide_count=made["slide_count"],
        title=made["title"],
        mode="deterministic",
        outline_artifact=artifact,
        image_prompts=[ImagePrompt(slide=slide, prompt=prompt) for slide, prompt in made["image_prompts"]],
    )


def _warn_about_voice(ctx: PackContext, input: Input) -> None:
    given = [name for name in ("persona", "audience", "angle") if (getattr(input, name) or "").strip()]
    if not given:
        return
    names = ", ".join(f"`{name}`" for name in given)
    shown = [name for name in given if name != "persona"]
    place = " It is shown on the title slide only." if shown == given and len(given) == 1 else ""
    if len(given) > 1 and shown:
        place = f" On the title slide only: {', '.join(f'`{name}`' for name in shown)}."
    ctx.warn(f"No model wrote these slides, so {names} did not change their wording.{place}")


def _file_stem(title: str) -> str:
    stem = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFKC", title).lower()).strip("-")
    return stem[:60].rstrip("-") or "slides"
