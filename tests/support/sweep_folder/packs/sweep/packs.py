"""Packs for `tests.support.mcp_sweep`, in a folder, so that an embedded server in a process of its own has them too."""

from __future__ import annotations

import asyncio

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack


class Wanted(BaseModel):
    """What to write."""

    text: str = Field(default="", description="Any text; `fail` fails.", max_length=1_000)
    name: str = Field(default="note.txt", description="File name.")


class Written(BaseModel):
    """What was written."""

    text: str = Field(description="The text.")
    artifact_id: str = Field(description="Id of the artifact.")


class Held(BaseModel):
    """Nothing."""


@pack(
    "sweep.write",
    version="1.0.0",
    effects="none",
    repeatable=True,
    metadata=Metadata(
        accepts=["text"], produces=["document"], typical_use="Use this to sweep.", limitations=["Sweeps only."]
    ),
)
async def write(ctx: PackContext, given: Wanted) -> Written:
    """Writes a file."""
    if given.text == "fail":
        raise PackError("invalid_input", "It was told to fail.", hint="Give another text.")
    made = await ctx.save_artifact(given.name, given.text.encode(), "text/plain")
    return Written(text=given.text, artifact_id=made.artifact_id)


@pack("sweep.hold", version="1.0.0", effects="none", repeatable=True)
async def hold(ctx: PackContext, given: Held) -> Held:
    """Goes on until it is cancelled."""
    await asyncio.Event().wait()
    return given
