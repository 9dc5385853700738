"""`image.generate`: a description in, a picture out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from packline import (
    ArtifactRef,
    Metadata,
    ModelNeed,
    PackContext,
    PackError,
    PictureSize,
    PostCondition,
    pack,
    picture_size,
)

from .._file_names import file_stem
from ._pictures import MEDIA_TYPES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from packline import ArtifactFile

Style = Literal["photo", "illustration", "diagram", "watercolour", "flat", "3d"]

_STYLES: dict[Style, str] = {
    "photo": "A photograph, natural light, sharp.",
    "illustration": "An editorial illustration, clean lines, few colours.",
    "diagram": "A clear diagram on a plain background, without text.",
    "watercolour": "A watercolour painting on white paper.",
    "flat": "Flat vector style, large shapes, few colours, plain background.",
    "3d": "A soft three-dimensional rendering, studio light, plain background.",
}
MEASURE_SECONDS = 60.0


class Input(BaseModel):
    """What to draw, and how large."""

    prompt: str = Field(max_length=4_000, description="What the picture should show, in any language.")
    width: int = Field(default=1536, ge=256, le=4096, description="Points across; the nearest the model draws is made.")
    height: int = Field(default=1024, ge=256, le=4096, description="Points down; the nearest the model draws is made.")
    style: Style | None = Field(default=None, description="Look of the picture, added to the prompt.")
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `image`.",
    )


class Output(BaseModel):
    """The picture and what is known about it."""

    artifact: ArtifactRef = Field(description="The picture: PNG, JPEG or WebP.")
    width: int = Field(ge=1, description="Points across, as the file says.")
    height: int = Field(ge=1, description="Points down, as the file says.")
    media_type: str = Field(description="Such as `image/png`.")
    model: str = Field(description="The model that made it, `provider:name`.")
    prompt: str = Field(description="What the model was asked for.")


def _is_that_picture(output: Output, files: Sequence[ArtifactFile]) -> str | None:
    file = next((file for file in files if file.ref.artifact_id == output.artifact.artifact_id), None)
    if file is None:
        return "no file was saved"
    with file.path.open("rb") as opened:
        found = picture_size(opened.read(65_536))
    if found is None:
        return "the file does not begin like a PNG, JPEG or WebP picture"
    if found != PictureSize(output.media_type, output.width, output.height):
        return f"the file is {found.width} by {found.height} {found.media_type}, not what the output says"
    return None


@pack(
    "image.generate",
    version="1.0.0",
    effects="none",
    repeatable=True,
    timeout_seconds=360,
    models=[ModelNeed("image")],
    cost="one picture of the image model",
    post_conditions=[PostCondition("the picture can be read and has the reported size", _is_that_picture)],
    metadata=Metadata(
        accepts=["description", "brief", "text"],
        produces=["image"],
        intent_keywords=[
            "generate image",
            "make a picture",
            "illustration",
            "hero image",
            "cover art",
            "draw",
            "ai image",
            "artwork",
        ],
        example_intents=[
            "Draw a lighthouse at night for the title slide",
            "I need a hero image for this blog post",
            "Make an illustration of a pipeline with three steps",
            "cover art for our podcast, flat style, square",
            "Generate a photo of an empty workshop in the morning",
            "Picture for slide four: a lens bending light",
            "a watercolour of the harbour, wide format",
            "Can you make an image from this description?",
        ],
        typical_use="Use this when a picture is wanted from a description in words.",
        limitations=[
            "Needs an image model; there is no offline way to make a picture.",
            "Makes one new picture; it changes none that exists and searches for none.",
            "Models draw in a few sizes only; the picture has the nearest shape, and the output tells its size.",
            "Words inside a picture are often misspelt.",
            "The same prompt gives another picture each time.",
        ],
    ),
)
async def generate(ctx: PackContext, input: Input) -> Output:
    """Has an image model make one picture of a description, in the nearest size it draws.

    The file is decoded to see that it is whole before it is saved. Which models are asked, and in which order, is the
    server's setting for the role `image`; the one that answered is in the output, what it cost on the attempt.
    """
    prompt = " ".join(input.prompt.split())
    if not prompt:
        raise PackError(
            "invalid_input",
            "`prompt` is empty, so there is nothing to draw.",
            field="prompt",
            hint="Describe the picture in a sentence or two.",
        )
    if input.style is not None:
        prompt = f"{prompt} {_STYLES[input.style]}"
    lacking = ctx.models.missing("image") if input.model is None else None
    if lacking is not None:
        raise PackError(
            "invalid_input", f"No picture can be made here: {lacking.message}", field="model", hint=lacking.hint
        )
    ctx.progress(0.1, "Having the picture made")
    answer = await ctx.models.image(prompt, width=input.width, height=input.height, model=input.model)
    found = picture_size(answer.content[:65_536])
    if found is None:
        raise PackError(
            "invalid_output", f"`{answer.model}` answered with something that is not a PNG, JPEG or WebP image."
        )
    ctx.progress(0.8, "Looking at the picture")
    await _decode(ctx, answer.content, answer.model)
    if abs(found.width * input.height / (found.height * input.width) - 1) > 0.02:
        ctx.warn(
            f"`{answer.model}` does not draw {input.width} by {input.height}; "
            f"the picture is {found.width} by {found.height}."
        )
    name = f"{file_stem(input.prompt, 'picture')}.{MEDIA_TYPES[found.media_type]}"
    artifact = await ctx.save_artifact(name, answer.content, found.media_type)
    ctx.progress(1.0, f"A picture of {found.width} by {found.height}")
    return Output(
        artifact=artifact,
        width=found.width,
        height=found.height,
        media_type=found.media_type,
        model=answer.model,
        prompt=prompt,
    )


async def _decode(ctx: PackContext, content: bytes, model: str) -> None:
    """Decodes the whole picture, where a library that can is installed."""
    from ._pictures import can_decode, decode

    if not can_decode():
        ctx.log("Pillow is not installed, so the picture was not decoded; its header is sound.")
        return
    problem = await ctx.run_in_process(decode, content, timeout_seconds=MEASURE_SECONDS)
    if problem is not None:
        raise PackError("invalid_output", f"The picture of `{model}` cannot be read: {problem}.", hint="Try again.")
