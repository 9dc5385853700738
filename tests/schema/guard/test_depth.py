"""JSON that is nested very deep: given, or made by a pack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel

from packline import PackContext, PackError, pack
from runner.json_values import MAX_KEPT_DEPTH
from tests.support.front_door import look, ran, save, step
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path


class Levels(BaseModel):
    """How deep, counting from the output itself."""

    levels: int = 1
    fail: bool = False
    value: Any = None


class Nested(BaseModel):
    """Something nested."""

    value: Any


def nested(levels: int) -> Any:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    return value


@pack("test.nest", version="1.0.0", effects="none", repeatable=True)
async def nest(ctx: PackContext, given: Levels) -> Nested:
    """Nests lists."""
    if given.fail:
        raise PackError("not_found", "It is not there.", detail=nested(given.levels))
    return Nested(value=nested(given.levels - 1))


@pytest.mark.parametrize("levels", [MAX_KEPT_DEPTH, MAX_KEPT_DEPTH + 1, 248, 5000])
async def test_what_a_run_keeps_can_be_read(tmp_path: Path, levels: int) -> None:
    async with product(tmp_path, [nest]) as it:
        await save(it, "nesting", step("n", "test.nest", levels=levels))
        run = await ran(it, "nesting")
        if levels <= MAX_KEPT_DEPTH:
            assert run["output"]["json"] == {"value": nested(levels - 1)}
        else:
            assert (run["state"], run["failure"]["code"]) == ("FAILED", "INVALID_OUTPUT")
        await save(it, "failing", step("n", "test.nest", levels=levels, fail=True))
        failed = await look(it, (await ran(it, "failing"))["id"], select="failure { code detail }")
        assert failed["failure"]["code"] == "NOT_FOUND"


@pytest.mark.parametrize(
    "command", ['runPack(pack: "test.nest", input: $json)', 'runPipeline(pipeline: "nesting", inputs: $json)']
)
async def test_what_is_given_too_deep_is_refused_in_words(tmp_path: Path, command: str) -> None:
    async with product(tmp_path, [nest]) as it:
        await save(it, "nesting", step("n", "test.nest", value="${{ inputs.value }}"))
        query = f"mutation ($json: JSON!) {{ {command} {{ __typename ... on Problem {{ message }} }} }}"
        for levels in (MAX_KEPT_DEPTH - 1, 900):
            answer = await it.answer(query, {"json": {"value": nested(levels)}})
            said = json.dumps(answer.errors or answer.data)
            assert "nested deeper than" in said
            assert "Internal server error" not in said
