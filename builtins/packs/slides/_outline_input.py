"""The input of `slides.outline`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field


class Input(BaseModel):
    """The text and how to present it."""

    text: str = Field(
        max_length=500_000,
        description="What to make slides of: Markdown (its headings become sections) or plain text.",
        examples=["# Lighthouses\n\n## Fresnel lenses\n\nThe first one was lit in 1823. It threw light for 30 km."],
    )
    title: str | None = Field(
        default=None, max_length=200, description="Title of the deck; else the text's own, else its first sentence."
    )
    author: str | None = Field(default=None, max_length=120, description="Shown on the title slide.")
    audience: str | None = Field(
        default=None, max_length=100, description="Who it is for, such as `new engineers`; shown on the title slide."
    )
    persona: str | None = Field(
        default=None, max_length=100, description="Voice to write in; has no effect without a model."
    )
    angle: str | None = Field(
        default=None,
        max_length=160,
        description="What to stress; without a model only shown on the title slide, as its subtitle.",
    )
    max_slides: int = Field(default=14, ge=3, le=40, description="Most slides in all, title and closing included.")
    export_outline: bool = Field(default=False, description="Also save the slides' Markdown as a file.")
    include_image_prompts: bool = Field(
        default=False, description="Also describe a picture for each slide of text, for `image.generate`."
    )
    mode: Literal["auto", "deterministic", "model"] = Field(
        default="auto",
        description="`auto`: a model writes the slides where one is configured. `deterministic`: the text's own "
        "sentences, picked and shortened; the same text gives the same slides.",
    )
    model: str | None = Field(
        default=None,
        max_length=200,
        description="A configured model, `provider:name`, to be tried first; else those of the role `writer`.",
    )
