"""Packs a test holds by the hand: each call is told to the test over a connection, which says when it may end.

The address of the test is read from `HELD_ADDRESS`; `HELD_SERVER` says which server this is. The connection ends with
the call, however that ends: the test sees a cancelled handler and a killed process alike.
"""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from pydantic import BaseModel, Field

from packline import PackContext, PackError, pack


class Input(BaseModel):
    """What the test knows the call by."""

    text: str = Field(default="", description="Any text.")


class Output(BaseModel):
    """The text, and who gave it."""

    text: str
    server: str


class Made(BaseModel):
    """An artifact."""

    artifact_id: str


class Opened(BaseModel):
    """What an artifact holds."""

    text: str


class Left(BaseModel):
    """A session."""

    session_id: str


class Wanted(BaseModel):
    """Which artifact."""

    artifact_id: str = Field(description="Id of the artifact.")


async def report(ctx: PackContext, text: str, *, hold: bool) -> None:
    """Report a call to the test and, when it is to be held, wait until the test lets it end."""
    host, _, port = os.environ["HELD_ADDRESS"].partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    call: dict[str, Any] = {
        "server": os.environ["HELD_SERVER"],
        "run": ctx.run_id,
        "step": ctx.step_key,
        "attempt": ctx.attempt_number,
        "key": ctx.idempotency_key,
        "text": text,
        "hold": hold,
    }
    try:
        writer.write(json.dumps(call).encode() + b"\n")
        if await reader.readline() != b"go\n":
            raise PackError("handler_failed", "The test went away.")
    finally:
        writer.close()


@pack("held.step", version="1.0.0", effects="none", repeatable=True)
async def step(ctx: PackContext, input: Input) -> Output:
    """Gives a text back once the test lets it."""
    await report(ctx, input.text, hold=True)
    return Output(text=input.text, server=os.environ["HELD_SERVER"])


@pack("held.logged", version="1.0.0", effects="none", repeatable=True)
async def logged(ctx: PackContext, input: Input) -> Output:
    """Logs a text once the test lets it, and gives it back."""
    await report(ctx, input.text, hold=True)
    ctx.log(f"{input.text} was let go")
    return Output(text=input.text, server=os.environ["HELD_SERVER"])


@pack("held.quick", version="1.0.0", effects="none", repeatable=True)
async def quick(ctx: PackContext, input: Input) -> Output:
    """Gives a text back at once; the test is only told."""
    await report(ctx, input.text, hold=False)
    return Output(text=input.text, server=os.environ["HELD_SERVER"])


@pack("held.artifact", version="1.0.0", effects="none", repeatable=True)
async def artifact(ctx: PackContext, input: Input) -> Made:
    """Makes a file of a text."""
    ref = await ctx.save_artifact("note.txt", input.text.encode(), "text/plain")
    return Made(artifact_id=ref.artifact_id)


@pack("held.open", version="1.0.0", effects="none", repeatable=True)
async def opened(ctx: PackContext, input: Wanted) -> Opened:
    """Reads a file that another step made."""
    file = await ctx.open_artifact(input.artifact_id)
    return Opened(text=file.path.read_text())


@pack("held.session", version="1.0.0", effects="none", repeatable=True, preserves_session=True)
async def session(ctx: PackContext, input: Input) -> Left:
    """Leaves a session with a text in it."""
    await report(ctx, input.text, hold=False)
    left = await ctx.start_session()
    (left.path / "note.txt").write_text(input.text)
    return Left(session_id=left.id)


@pack("held.reader", version="1.0.0", effects="none", repeatable=True, uses_session=True)
async def reader(ctx: PackContext, input: Input) -> Output:
    """Reads what the session holds, once the test lets it."""
    await report(ctx, input.text, hold=True)
    assert ctx.session is not None
    return Output(text=(ctx.session.path / "note.txt").read_text(), server=os.environ["HELD_SERVER"])
