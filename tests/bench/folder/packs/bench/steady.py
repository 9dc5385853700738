"""A pack that takes a moment, for measuring recovery."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, pack


class Input(BaseModel):
    """How long it takes."""

    seconds: float = Field(description="Time it takes.")


class Output(BaseModel):
    """Nothing of interest."""

    seconds: float


@pack(
    "bench.steady",
    version="1.0.0",
    effects="none",
    repeatable=True,
    metadata=Metadata(
        accepts=["text"], produces=["text"], typical_use="Use this to measure.", limitations=["Nothing."]
    ),
)
async def steady(ctx: PackContext, input: Input) -> Output:
    """Waits."""
    await asyncio.sleep(input.seconds)
    return Output(seconds=input.seconds)
