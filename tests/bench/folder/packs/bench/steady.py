"""A pack that takes a moment, for measuring recovery."""

from __future__ import annotations

import asyncio
import time

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, pack


class Input(BaseModel):
    """How long it takes."""

    seconds: float = Field(description="Time it takes.")


class Output(BaseModel):
    """When it ran."""

    began: float = Field(description="When it began, in seconds since 1970.")


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
    began = time.time()
    await asyncio.sleep(input.seconds)
    return Output(began=began)
