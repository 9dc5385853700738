"""Packs for tests of the run engine beyond `tests.support.packs`: stubborn, blocking, forking, and lying ones."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from packline import PackContext, PackError, pack
from runner.packs.pack import PostCondition

if TYPE_CHECKING:
    from collections.abc import Callable

    from packline import Pack


class Text(BaseModel):
    """Some text."""

    text: str = Field(default="", description="Any text.")


class Number(BaseModel):
    """A number."""

    number: int = Field(description="Any number.")


class Anything(BaseModel):
    """Whatever is given."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    value: Any = Field(default=None, description="Any JSON.")


class Picky(BaseModel):
    """Something whose check is broken."""

    text: str = Field(default="", description="Any text.")

    @field_validator("text")
    @classmethod
    def broken(cls, value: str) -> str:
        raise RuntimeError("the validator is broken")


@dataclass
class Signals:
    """What handlers and tests tell each other.

    Attributes:
        calls: Names of the handlers called, in order.
        began: Set when a waiting handler has begun.
        go: Lets it end.
        cancelled: How often a handler was cancelled.
        body: What `test.scripted` does; a test sets it.
    """

    calls: list[str] = field(default_factory=list)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: int = 0
    body: Callable[[PackContext, Anything], Any] | None = None


def engine_packs(signals: Signals) -> list[Pack]:
    """All of them."""

    @pack("test.scripted", version="1.0.0", effects="none", repeatable=True)
    async def scripted(ctx: PackContext, given: Anything) -> Anything:
        """Does what the test says."""
        signals.calls.append(ctx.step_key)
        assert signals.body is not None
        result = signals.body(ctx, given)
        if asyncio.iscoroutine(result):
            result = await result
        return result if isinstance(result, Anything) else Anything(value=result)

    @pack("test.stubborn", version="1.0.0", effects="none", repeatable=True)
    async def stubborn(ctx: PackContext, given: Text) -> Text:
        """Ignores its cancellation until it is told to end."""
        signals.began.set()
        while not signals.go.is_set():
            try:
                await signals.go.wait()
            except asyncio.CancelledError:
                signals.cancelled += 1
                ctx.log("not yet")
                ctx.progress(0.5, "still here")
        return Text(text="too late")

    @pack("test.forking", version="1.0.0", effects="none", repeatable=True)
    async def forking(ctx: PackContext, given: Text) -> Text:
        """Runs in a process that starts another one; `text` is the folder where they leave their ids."""
        signals.began.set()
        return Text(text=await ctx.run_in_process(fork_and_sleep, given.text))

    @pack("test.picky", version="1.0.0", effects="none", repeatable=True)
    async def picky(ctx: PackContext, given: Picky) -> Text:
        """Its input cannot be checked."""
        return Text()

    @pack("test.unchecked", version="1.0.0", effects="none", repeatable=True)
    async def unchecked(ctx: PackContext, given: Text) -> Number:
        """Gives something else than it declares; `text` says what."""
        if given.text == "wrong type":
            return Number.model_construct(number="seven")  # type: ignore[arg-type]
        if given.text == "missing":
            return Number.model_construct()
        if given.text == "another model":
            return Text(text="no number")  # type: ignore[return-value]
        return None  # type: ignore[return-value]

    def at_least_two(result: Text, files: object) -> str | None:
        if result.text == "crash":
            raise LookupError("the check is broken")
        if result.text == "exit":
            sys.exit(3)
        return None if len(result.text) >= 2 else f"it has {len(result.text)}"

    @pack(
        "test.promising",
        version="1.0.0",
        effects="none",
        repeatable=True,
        post_conditions=[PostCondition("the text has two letters", at_least_two)],
    )
    async def promising(ctx: PackContext, given: Text) -> Text:
        """Promises two letters."""
        return Text(text=given.text)

    @pack("test.exits", version="1.0.0", effects="none", repeatable=True)
    async def exits(ctx: PackContext, given: Text) -> Text:
        """Wants to end the server."""
        sys.exit(3)

    @pack("test.precious", version="1.0.0", effects="none", repeatable=False, preserves_session=True)
    async def precious(ctx: PackContext, given: Text) -> Text:
        """Leaves a session that cannot be made twice."""
        signals.calls.append(ctx.step_key)
        session = await ctx.start_session()
        return Text(text=session.id)

    @pack("test.sends_from_session", version="1.0.0", effects="external", repeatable=False, uses_session=True)
    async def sends(ctx: PackContext, given: Text) -> Text:
        """Sends what lies in the session."""
        signals.calls.append(ctx.step_key)
        return Text(text=ctx.session.id if ctx.session else "")

    @pack("test.uses_or_loses", version="1.0.0", effects="none", repeatable=True, uses_session=True)
    async def uses(ctx: PackContext, given: Text) -> Text:
        """Says that its session is unavailable, once for each session in `signals.calls`."""
        signals.calls.append(ctx.step_key)
        if signals.calls.count(ctx.step_key) == 1:
            raise PackError("session_unavailable", "The workspace is broken.")
        return Text(text=ctx.session.id if ctx.session else "")

    return [
        scripted,
        stubborn,
        forking,
        picky,
        unchecked,
        promising,
        exits,
        precious,
        sends,
        uses,
    ]


def fork_and_sleep(folder: str) -> str:
    """Starts a grandchild, leaves both ids in a file, and sleeps for a minute; runs in a worker process."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    with open(os.path.join(folder, "pids.tmp"), "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(os.path.join(folder, "pids.tmp"), os.path.join(folder, "pids"))
    time.sleep(60)
    return "woke up"
