"""What the failure of a handler with a mistake says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from packline import PackContext, pack
from tests.support.front_door import command
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path


class Mistake(BaseModel):
    """Which one."""

    kind: str = Field(description="Which one.")


class Done(BaseModel):
    """Anything."""

    value: Any = None
    content: bytes = b""


class Bed(BaseModel):
    """A model that is not the output."""

    percent: int = Field(le=100)


class SilentError(BaseException):
    """Has no message."""


@pack("test.mistaken", version="1.0.0", effects="none", repeatable=True)
async def mistaken(ctx: PackContext, given: Mistake) -> Done:
    """Makes a mistake."""
    match given.kind:
        case "text as content":
            await ctx.save_artifact("a.txt", "a text", "text/plain")  # type: ignore[arg-type]
        case "list as content":
            await ctx.save_artifact("a.txt", [1], "text/plain")  # type: ignore[arg-type]
        case "another model":
            Bed(percent=430)
        case "bytes":
            return Done(content=b"\xff")
        case "deep":
            nested: list[Any] = []
            for _ in range(300):
                nested = [nested]
            return Done(value=nested)
        case "silent":
            raise SilentError
    return Done()


async def test_a_handlers_mistake_is_named_shortly_with_the_way_to_its_traceback(tmp_path: Path) -> None:
    said = {
        "text as content": "TypeError: The content of the artifact a.txt is a str, not bytes or a Path: "
        "encode the text, as in `text.encode()`.",
        "list as content": "TypeError: The content of the artifact a.txt is a list, not bytes or a Path: convert it.",
        "another model": "ValidationError: Bed is wrong at percent: it must be at most 100 (given: 430).",
        "silent": "SilentError without a message.",
    }
    async with product(tmp_path, [mistaken]) as it:
        for kind, message in said.items():
            run: dict[str, Any] = (
                await command(it, "runPack", pack="test.mistaken", input={"kind": kind}, waitSeconds=20)
            )["run"]
            failure = run["failure"]
            assert (failure["code"], failure["message"]) == ("HANDLER_FAILED", f"test.mistaken raised {message}")
            assert f"`packline show {run['id']} --step {failure['stepKey']}`" in failure["hint"]


async def test_what_json_cannot_hold_is_named(tmp_path: Path) -> None:
    said = {"bytes": "has bytes that are not UTF-8 text.", "deep": "is nested deeper than 200 levels."}
    async with product(tmp_path, [mistaken]) as it:
        for kind, message in said.items():
            answer = await command(it, "runPack", pack="test.mistaken", input={"kind": kind}, waitSeconds=20)
            failure = answer["run"]["failure"]
            assert (failure["code"], failure["message"]) == (
                "INVALID_OUTPUT",
                f"The output of test.mistaken {message}",
            )
