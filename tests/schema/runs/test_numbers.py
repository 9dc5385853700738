"""Numbers that JSON cannot hold are no output."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from pydantic import BaseModel, PlainSerializer

from packline import PackContext, pack
from tests.support.front_door import ran, save, step
from tests.support.packs import Text
from tests.support.product import product

if TYPE_CHECKING:
    from pathlib import Path


class Measured(BaseModel):
    """What was measured."""

    mean: float = 1.0
    spread: float | None = None
    samples: Any = None
    told: Annotated[float, PlainSerializer(lambda number: f"it is {number}", return_type=str)] = 1.0


MEASURED = {
    "mean": Measured(mean=math.nan),
    "spread": Measured(spread=math.inf),
    "samples.a.1": Measured(samples={"a": (1, -math.inf)}),
    "": Measured(samples=[None, "NaN", {"b": None}], told=math.nan),
}


@pack("test.measure", version="1.0.0", effects="none", repeatable=True)
async def measure(ctx: PackContext, given: Text) -> Measured:
    """Measures."""
    return MEASURED[given.text]


@pytest.mark.parametrize("field", MEASURED)
async def test_a_number_that_json_cannot_hold_is_no_output(tmp_path: Path, field: str) -> None:
    async with product(tmp_path, [measure]) as it:
        await save(it, "measuring", step("m", "test.measure", text=field))
        run = await ran(it, "measuring")
        if field:
            assert run["state"] == "FAILED"
            assert run["failure"]["code"] == "INVALID_OUTPUT"
            assert f"wrong at {field}: JSON does not support the number" in run["failure"]["message"]
        else:
            assert run["output"]["json"]["told"] == "it is nan"
