"""A pack that does nothing: what is left is the cost of the platform."""

from __future__ import annotations

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, pack


class Input(BaseModel):
    """A text."""

    text: str = Field(description="Passed on.")


class Output(BaseModel):
    """The text."""

    text: str


@pack(
    "bench.noop",
    version="1.0.0",
    effects="none",
    repeatable=True,
    metadata=Metadata(
        accepts=["text"], produces=["text"], typical_use="Use this to measure.", limitations=["Nothing."]
    ),
)
async def noop(ctx: PackContext, input: Input) -> Output:
    """Passes a text on."""
    return Output(text=input.text)
