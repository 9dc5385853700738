"""Packs that do as the test says: succeed, fail, wait, leave sessions, misbehave.

bench = Workbench()
async with product(tmp_path, bench.packs) as it:
    …                       # a run of `test.slow` is under way
    await bench.started.wait()
    bench.release.set()
    assert bench.calls("test.echo") == 1
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from packline import Metadata, Pack, PackContext, PackError, pack


class Text(BaseModel):
    """What most of them take."""

    text: str = Field(default="", description="Any text.", max_length=1_000_000)


class Echoed(BaseModel):
    """What most of them give."""

    text: str = Field(description="The text.")
    call: int = Field(default=1, description="Which call of this pack it was, from 1.")


class Failing(BaseModel):
    """How to fail."""

    code: str = Field(default="invalid_input", description="A failure code.")
    message: str = Field(default="It failed as it was told to.", description="What to say.")
    cause: str | None = Field(default=None, description="What to say of the cause.")
    hint: str | None = Field(default="Ask for another code.", description="What to do.")
    remedy: str | None = Field(default=None, description="What to do, for programs.")
    retry_after_seconds: float | None = Field(default=None, description="What a rate limit would say.")


class Flaky(BaseModel):
    """How often to fail before succeeding."""

    times: int = Field(default=1, description="Calls that fail.", ge=0)
    code: str = Field(default="upstream_unavailable", description="With which code.")
    text: str = Field(default="", description="Any text.")


class Styled(BaseModel):
    """A text, and how its reader likes it."""

    text: str = Field(default="", description="Any text; `fail` fails while the switch is off.")
    persona: str | None = Field(default=None, description="For whom.")
    audience: str | None = Field(default=None, description="Who listens.")
    author: str | None = Field(default=None, description="Who speaks.")
    format: str = Field(default="plain", description="What to make.")


class Steps(BaseModel):
    """How much progress to tell."""

    count: int = Field(default=3, description="Milestones.", ge=0, le=1000)


class FileWanted(BaseModel):
    """Which file to make."""

    name: str = Field(default="note.txt", description="File name.")
    content: str = Field(default="Hello.", description="What it holds.")
    media_type: str = Field(default="text/plain", description="Media type.")


class FileMade(BaseModel):
    """The file made."""

    artifact_id: str = Field(description="Id of the artifact.")
    name: str = Field(description="File name.")


class SessionLeft(BaseModel):
    """A session that was started."""

    session_id: str = Field(description="Id of the session.")


class Size(BaseModel):
    """How much to give."""

    size_bytes: int = Field(default=2 << 20, description="How large an output.", ge=0)
    lines: int = Field(default=0, description="How many lines to log.", ge=0)


@dataclass
class Call:
    """One call of a pack."""

    pack: str
    input: dict[str, Any]
    run_id: str
    step_key: str
    attempt_number: int
    idempotency_key: str
    caller: str
    session_id: str | None


@dataclass
class Workbench:
    """The packs of one test and what became of them.

    Attributes:
        log: Every call, oldest first.
        started: Set when `test.slow` has begun.
        release: Lets `test.slow` end; set it before to make it quick.
        failing: While true, `test.switch` fails with `switch_code`.
        switch_code: Its failure code.
        cancelled: How often `test.slow` was cancelled.
    """

    log: list[Call] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    release: asyncio.Event = field(default_factory=asyncio.Event)
    failing: bool = True
    switch_code: str = "invalid_input"
    cancelled: int = 0
    packs: list[Pack] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.packs = [
            *self._well_behaved(),
            *self._failing(),
            *self._with_sessions(),
            *self._with_effects(),
            *self._misbehaving(),
        ]

    def calls(self, name: str) -> int:
        """How often a pack was called."""
        return sum(call.pack == name for call in self.log)

    def calls_of(self, name: str) -> list[Call]:
        """The calls of a pack, oldest first."""
        return [call for call in self.log if call.pack == name]

    def find(self, name: str) -> Pack:
        """The pack of that name."""
        return next(pack for pack in self.packs if pack.name == name)

    def _called(self, name: str, ctx: PackContext, given: BaseModel) -> int:
        self.log.append(
            Call(
                pack=name,
                input=given.model_dump(),
                run_id=ctx.run_id,
                step_key=ctx.step_key,
                attempt_number=ctx.attempt_number,
                idempotency_key=ctx.idempotency_key,
                caller=ctx.caller,
                session_id=ctx.session.id if ctx.session else None,
            )
        )
        return self.calls(name)

    def _well_behaved(self) -> list[Pack]:
        @pack(
            "test.echo",
            version="1.0.0",
            effects="none",
            repeatable=True,
            metadata=Metadata(
                accepts=["text"],
                produces=["text"],
                intent_keywords=["echo", "repeat after me"],
                example_intents=["Say that again", "Give my words back unchanged"],
                typical_use="Use this to get a text back as it was given.",
                limitations=["Changes nothing."],
            ),
        )
        async def echo(ctx: PackContext, given: Text) -> Echoed:
            """Gives the text back."""
            return Echoed(text=given.text, call=self._called("test.echo", ctx, given))

        @pack(
            "test.slow",
            version="1.0.0",
            effects="none",
            repeatable=True,
            metadata=Metadata(accepts=["text"], produces=["markdown"]),
        )
        async def slow(ctx: PackContext, given: Text) -> Echoed:
            """Gives the text back once it is released."""
            call = self._called("test.slow", ctx, given)
            self.started.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return Echoed(text=given.text, call=call)

        @pack("test.progress", version="1.0.0", effects="none", repeatable=True)
        async def progress(ctx: PackContext, given: Steps) -> Echoed:
            """Tells how far it is, and logs as much."""
            call = self._called("test.progress", ctx, given)
            for number in range(1, given.count + 1):
                ctx.progress(number / given.count, f"{number} of {given.count}")
                ctx.log(f"did {number}")
                await asyncio.sleep(0)
            return Echoed(text=str(given.count), call=call)

        @pack(
            "test.artifact",
            version="1.0.0",
            effects="none",
            repeatable=True,
            metadata=Metadata(accepts=["text"], produces=["document"]),
        )
        async def artifact(ctx: PackContext, given: FileWanted) -> FileMade:
            """Makes a file."""
            self._called("test.artifact", ctx, given)
            ref = await ctx.save_artifact(given.name, given.content.encode(), given.media_type)
            return FileMade(artifact_id=ref.artifact_id, name=ref.name)

        return [echo, slow, progress, artifact]

    def _failing(self) -> list[Pack]:
        @pack("test.fail", version="1.0.0", effects="none", repeatable=True)
        async def fail(ctx: PackContext, given: Failing) -> Echoed:
            """Fails with the code it is given."""
            self._called("test.fail", ctx, given)
            raise PackError(
                given.code,
                given.message,
                cause=given.cause,
                hint=given.hint,
                remedy=given.remedy,
                retry_after_seconds=given.retry_after_seconds,
            )

        @pack("test.flaky", version="1.0.0", effects="none", repeatable=True)
        async def flaky(ctx: PackContext, given: Flaky) -> Echoed:
            """Fails some times, then gives the text back."""
            call = self._called("test.flaky", ctx, given)
            if call <= given.times:
                raise PackError(given.code, f"Call {call} of {given.times} that fail.")
            return Echoed(text=given.text, call=call)

        @pack("test.switch", version="1.0.0", effects="none", repeatable=True)
        async def switch(ctx: PackContext, given: Text) -> Echoed:
            """Fails until the test says otherwise."""
            call = self._called("test.switch", ctx, given)
            if self.failing:
                raise PackError(self.switch_code, "The switch is off.", hint="Turn it on, then resume.")
            return Echoed(text=given.text, call=call)

        @pack("test.style", version="1.0.0", effects="none", repeatable=True)
        async def style(ctx: PackContext, given: Styled) -> Echoed:
            """Gives the text back, having been told how its reader likes it."""
            call = self._called("test.style", ctx, given)
            if self.failing and given.text == "fail":
                raise PackError(self.switch_code, "The switch is off.", hint="Turn it on, then resume.")
            return Echoed(text=given.text, call=call)

        return [fail, flaky, switch, style]

    def _with_sessions(self) -> list[Pack]:
        @pack("test.session", version="1.0.0", effects="none", repeatable=True, preserves_session=True)
        async def session(ctx: PackContext, given: Text) -> SessionLeft:
            """Leaves a session with a file in it; told `fail`, it fails while the switch is off."""
            self._called("test.session", ctx, given)
            if self.failing and given.text == "fail":
                raise PackError(self.switch_code, "The switch is off.", hint="Turn it on, then resume.")
            left = await ctx.start_session()
            (left.path / "note.txt").write_text(given.text)
            return SessionLeft(session_id=left.id)

        @pack("test.session_use", version="1.0.0", effects="none", repeatable=True, uses_session=True)
        async def use(ctx: PackContext, given: Text) -> Echoed:
            """Reads the file an earlier step left; told `keep`, it makes an artifact of it and gives its id.

            Told `fail`, it fails while the switch is off.
            """
            call = self._called("test.session_use", ctx, given)
            if self.failing and given.text == "fail":
                raise PackError(self.switch_code, "The switch is off.", hint="Turn it on, then resume.")
            if ctx.session is None:
                raise PackError("session_unavailable", "No session was handed on.")
            note = ctx.session.path / "note.txt"
            if not note.exists():
                raise PackError("session_unavailable", "The session is empty.")
            if given.text == "keep":
                ref = await ctx.save_artifact("note.txt", note.read_bytes(), "text/plain")
                return Echoed(text=ref.artifact_id, call=call)
            return Echoed(text=note.read_text(), call=call)

        return [session, use]

    def _with_effects(self) -> list[Pack]:
        @pack("test.external", version="1.0.0", effects="external", repeatable=False)
        async def external(ctx: PackContext, given: Flaky) -> Echoed:
            """Sends something, each time; fails the first times."""
            call = self._called("test.external", ctx, given)
            if call <= given.times:
                raise PackError(given.code, f"Call {call} of {given.times} that fail.")
            return Echoed(text=given.text, call=call)

        @pack("test.keyed", version="1.0.0", effects="external", repeatable=False, takes_idempotency_key=True)
        async def keyed(ctx: PackContext, given: Flaky) -> Echoed:
            """Sends something once for each idempotency key; fails the first times."""
            call = self._called("test.keyed", ctx, given)
            if call <= given.times:
                raise PackError(given.code, f"Call {call} of {given.times} that fail.")
            return Echoed(text=given.text, call=call)

        @pack("test.once", version="1.0.0", effects="external", repeatable=False, at_most_once=True)
        async def once(ctx: PackContext, given: Text) -> Echoed:
            """Must never run twice; waits to be released."""
            call = self._called("test.once", ctx, given)
            self.started.set()
            await self.release.wait()
            return Echoed(text=given.text, call=call)

        return [external, keyed, once]

    def _misbehaving(self) -> list[Pack]:
        @pack("test.huge", version="1.0.0", effects="none", repeatable=True)
        async def huge(ctx: PackContext, given: Size) -> Echoed:
            """Gives more than a step may."""
            return Echoed(text="x" * given.size_bytes, call=self._called("test.huge", ctx, given))

        @pack("test.raises", version="1.0.0", effects="none", repeatable=True)
        async def raises(ctx: PackContext, given: Text) -> Echoed:
            """Raises what no pack should."""
            self._called("test.raises", ctx, given)
            raise ZeroDivisionError(given.text or "division by zero")

        @pack("test.flood", version="1.0.0", effects="none", repeatable=True)
        async def flood(ctx: PackContext, given: Size) -> Echoed:
            """Logs without end, nearly."""
            call = self._called("test.flood", ctx, given)
            for number in range(given.lines or 20_000):
                ctx.log(f"line {number}")
                if number % 1000 == 0:
                    await asyncio.sleep(0)
            return Echoed(text="flooded", call=call)

        return [huge, raises, flood]
