"""Packs of the soak: quick, slow, failing for a while or for good, with files, sessions, processes and a credential.

What each gives back depends on its input alone, so that the checker can say what a run must have given.
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from pathlib import Path

from pydantic import BaseModel, Field

from packline import CredentialNeed, PackContext, PackError, pack


class Text(BaseModel):
    """Some text."""

    text: str = Field(description="Any text.")


class Slow(Text):
    """A text, and how long it takes."""

    seconds: float = Field(default=1.0, description="How long it takes.")


class Once(Text):
    """A text, and where to write that it was done."""

    file: str = Field(description="Path of a file; each execution adds a line.")


class File(BaseModel):
    """A file in Packline."""

    artifact_id: str = Field(description="Id of the artifact.")


@pack("soak.quick", version="1.0.0", effects="none", repeatable=True)
async def quick(ctx: PackContext, input: Text) -> Text:
    """Adds a `q`, at once."""
    return Text(text=input.text + "q")


@pack("soak.slow", version="1.0.0", effects="none", repeatable=True)
async def slow(ctx: PackContext, input: Slow) -> Text:
    """Adds an `s`, after some seconds."""
    for tenth in range(10):
        ctx.progress(tenth / 10, f"{tenth} of 10")
        await asyncio.sleep(input.seconds / 10)
    return Text(text=input.text + "s")


@pack("soak.flaky", version="1.0.0", effects="none", repeatable=True)
async def flaky(ctx: PackContext, input: Text) -> Text:
    """Adds an `f`, at the third attempt."""
    if ctx.attempt_number < 3:
        raise PackError("upstream_unavailable", "Not yet.", hint="Try again.")
    return Text(text=input.text + "f")


@pack("soak.stumble", version="1.0.0", effects="none", repeatable=True)
async def stumble(ctx: PackContext, input: Text) -> Text:
    """Adds a `t`, but fails at its first attempt, which only a resume mends."""
    if ctx.attempt_number < 2:
        raise PackError("invalid_input", "Not at first.", hint="Resume the run.")
    return Text(text=input.text + "t")


@pack("soak.broken", version="1.0.0", effects="none", repeatable=True)
async def broken(ctx: PackContext, input: Text) -> Text:
    """Fails."""
    raise PackError("invalid_input", "Never.", hint="Leave it.")


@pack("soak.save", version="1.0.0", effects="none", repeatable=True)
async def save(ctx: PackContext, input: Text) -> File:
    """Makes a file of a text, besides one that all runs share."""
    await ctx.save_artifact("shared.txt", b"the same in every run", "text/plain")
    saved = await ctx.save_artifact("own.txt", input.text.encode(), "text/plain")
    return File(artifact_id=saved.artifact_id)


def _read(path: str) -> str:
    time.sleep(0.05)
    return Path(path).read_text("utf-8")


@pack("soak.read", version="1.0.0", effects="none", repeatable=True)
async def read(ctx: PackContext, input: File) -> Text:
    """Reads the file in a process of its own, and adds an `r`."""
    file = await ctx.open_artifact(input.artifact_id)
    return Text(text=await ctx.run_in_process(_read, str(file.path)) + "r")


@pack("soak.open", version="1.0.0", effects="none", repeatable=True, preserves_session=True)
async def begin(ctx: PackContext, input: Text) -> Text:
    """Leaves a session with the text in it."""
    session = await ctx.start_session()
    (session.path / "text.txt").write_text(input.text, "utf-8")
    return input


@pack("soak.use", version="1.0.0", effects="none", repeatable=True, uses_session=True)
async def use(ctx: PackContext, input: Text) -> Text:
    """Reads what the session holds, and adds a `u`."""
    if ctx.session is None:
        raise PackError("session_unavailable", "No earlier step left a session.", hint="Put `soak.open` before.")
    return Text(text=(ctx.session.path / "text.txt").read_text("utf-8") + "u")


@pack("soak.once", version="1.0.0", effects="external", repeatable=False, at_most_once=True)
async def once(ctx: PackContext, input: Once) -> Text:
    """Adds a line to a file, then an `o`."""
    line = f"{ctx.run_id} {ctx.step_key} {ctx.attempt_number}\n".encode()
    handle = os.open(input.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)
    await asyncio.sleep(0.2)
    return Text(text=input.text + "o")


@pack(
    "soak.leak",
    version="1.0.0",
    effects="none",
    repeatable=True,
    credentials=[CredentialNeed("soak", "generic")],
)
async def leak(ctx: PackContext, input: Text) -> Text:
    """Tells its credential wherever it can; half of the texts end in an exception that holds it, too."""
    secret = (await ctx.credential("soak"))["secret"]
    forms = (secret, base64.b64encode(secret.encode()).decode(), secret.encode().hex())
    for form in forms:
        ctx.log(f"log {form}")
        ctx.warn(f"warning {form}")
        ctx.progress(0.5, f"progress {form}")
        await ctx.save_artifact(f"{form.replace('/', '-')} {form}.txt", input.text.encode(), "text/plain")
    if len(input.text) % 2:
        raise RuntimeError(f"exception {' '.join(forms)}")
    return Text(text=f"{input.text} {' '.join(forms)}")
