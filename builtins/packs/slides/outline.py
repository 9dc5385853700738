"""`slides.outline`: a text in, slides in Markdown out."""

from __future__ import annotations

import asyncio
import re
from typing import Literal

from pydantic import BaseModel, Field

from packline import ArtifactRef, Metadata, PackContext, PackError, PostCondition, pack

from .._file_names import file_stem
from .._writing import WRITER, WRITER_HELPS, listed, shortened, unsourced, use_model
from ._job import OutlineResult, outline_text
from ._modelled import (
    deck_shape,
    has_enough,
    instructions_for,
    prompt_for,
    room_for_content,
    shown_text,
    write_modelled,
)
from ._outline_input import Input

OUTLINE_SECONDS = 60.0


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
    mode: Literal["deterministic", "model"] = Field(
        description="How it was written: `deterministic` picks and shortens the text's own sentences, without a model."
    )
    model: str | None = Field(description="The model that wrote it, `provider:name`; null when none did.")
    outline_artifact: ArtifactRef | None = Field(description="The Markdown as a file, when `export_outline` was set.")
    image_prompts: list[ImagePrompt] = Field(description="Empty unless `include_image_prompts` was set.")


def _count_is_true(output: Output, _files: object) -> str | None:
    found = len(re.findall(r"(?m)^---$", output.markdown)) + 1
    if found < output.slide_count:
        return f"`markdown` has {found} slides, not {output.slide_count}"
    return None


@pack(
    "slides.outline",
    version="1.1.0",
    effects="none",
    repeatable=True,
    timeout_seconds=300,
    models=[WRITER_HELPS],
    cost="With a model one writer call that reads the text and writes about a hundred words for each slide; nothing "
    "without one.",
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
            "Without a model it picks and shortens the text's own sentences and writes no new ones.",
            "Without a model persona, audience and angle do not change the wording; audience and angle show on the "
            "title slide.",
            "Instructs the model to say only what the text says, but a model can still err; a warning names figures "
            "that the text lacks. It reads the first 160,000 characters.",
            "Keeps tables, code and quotes; leaves pictures out.",
            "Without a model it judges best on texts with headings, and knows in English only which words carry no "
            "meaning.",
            "Does not translate and does not check facts; for sources use `content.ground`.",
            "Gives Markdown, not a file to present; for that use `slides.render`.",
        ],
    ),
)
async def outline(ctx: PackContext, input: Input) -> Output:
    """Makes slides out of a text: title, agenda, sections with three to six bullets, and takeaways.

    Where a model is configured it writes them, with notes to speak, for the audience, in the voice and from the angle
    given, and says only what the text says. Without one, sections follow the text's headings, bullets are its most
    telling sentences shortened at clause borders, and what is not shown is kept as speaker notes; tables, code, quotes
    and lists stay what they are, and the same text gives the same slides.
    """
    if not input.text.strip():
        raise PackError(
            "invalid_input",
            "`text` is empty, so there is nothing to make slides of.",
            field="text",
            hint="Give the text to present, as Markdown or plain text.",
        )
    model: str | None = None
    if use_model(ctx, input.mode, "deterministic"):
        made, model = await _by_model(ctx, input)
    else:
        made = await _by_rules(ctx, input)
    for warning in made["warnings"]:
        ctx.warn(warning)
    ctx.progress(0.8, f"{made['slide_count']} slides outlined")
    artifact = None
    if input.export_outline:
        name = f"{file_stem(made['title'], 'slides')}-outline.md"
        artifact = await ctx.save_artifact(name, made["markdown"].encode(), "text/markdown; charset=utf-8")
    ctx.progress(1.0, f"{made['slide_count']} slides: {made['title']}")
    return Output(
        markdown=made["markdown"],
        slide_count=made["slide_count"],
        title=made["title"],
        mode="deterministic" if model is None else "model",
        model=model,
        outline_artifact=artifact,
        image_prompts=[ImagePrompt(slide=slide, prompt=prompt) for slide, prompt in made["image_prompts"]],
    )


async def _by_rules(ctx: PackContext, input: Input) -> OutlineResult:
    _warn_about_voice(ctx, input)
    ctx.progress(0.1, f"Reading {len(input.text.split()):,} words")
    made: OutlineResult = await ctx.run_in_process(
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
        raise _too_little()
    return made


async def _by_model(ctx: PackContext, input: Input) -> tuple[OutlineResult, str]:
    """Slides by a model, and the model's name."""
    if not await asyncio.to_thread(has_enough, input.text):
        raise _too_little()
    text = shortened(ctx, input.text, "The text")
    most = room_for_content(input.text, input.max_slides)
    ctx.progress(0.1, f"Writing at most {most} slides from {len(text.split()):,} words")
    answer = await ctx.models.structured(
        WRITER,
        deck_shape(input.text, most, pictures=input.include_image_prompts),
        prompt_for(input, text, most),
        instructions=instructions_for(input),
        model=input.model or None,
    )
    requested = " ".join(filter(None, (input.title, input.author, input.audience, input.angle)))
    if new := await asyncio.to_thread(unsourced, shown_text(answer.value), (input.text, requested)):
        ctx.warn(f"The text does not hold {listed(new)}; check {'them' if len(new) > 1 else 'it'} on the slides.")
    made: OutlineResult = await ctx.run_in_process(
        write_modelled,
        answer.value.model_dump(),
        input.text,
        input.max_slides,
        input.title,
        input.author,
        input.audience,
        timeout_seconds=OUTLINE_SECONDS,
    )
    return made, answer.model


def _too_little() -> PackError:
    return PackError(
        "invalid_input",
        "`text` holds too little to make slides of: no sentence, list, table or code besides its title.",
        field="text",
        hint="Give a few sentences at least; a paragraph for each slide is a good measure.",
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
