"""A pack that logs as much as an attempt may, for measuring how a log is read."""

from __future__ import annotations

from pydantic import BaseModel, Field

from packline import Metadata, PackContext, PackError, pack


class Input(BaseModel):
    """How much it logs."""

    lines: int = Field(description="Lines of each attempt.")
    attempts: int = Field(description="The attempt that succeeds.")


class Output(BaseModel):
    """Nothing."""


@pack(
    "bench.chatty",
    version="1.0.0",
    effects="none",
    repeatable=True,
    metadata=Metadata(
        accepts=["text"], produces=["text"], typical_use="Use this to measure.", limitations=["Nothing."]
    ),
)
async def chatty(ctx: PackContext, input: Input) -> Output:
    """Logs, and fails until its last attempt."""
    for number in range(input.lines):
        ctx.log(f"attempt {ctx.attempt_number}, line {number}".ljust(100, "."))
    if ctx.attempt_number < input.attempts:
        raise PackError("upstream_unavailable", "Not yet.")
    return Output()
