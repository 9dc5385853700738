"""What a pack returns is held to the model it declares, however the object was made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import BaseModel, Field

from packline import PackContext, pack
from tests.support.front_door import command
from tests.support.product import product

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.product import Product

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Wanted(BaseModel):
    """What to return."""

    how: str = Field(description="Which object.")


class Inner(BaseModel, extra="forbid"):
    """A part."""

    n: int = Field(default=0, description="A number.")


class Out(BaseModel, extra="forbid"):
    """What is declared."""

    n: int = Field(default=0, description="A number.")
    inner: Inner = Field(default=Inner(), description="A part.")


class Alike(BaseModel):
    """Another model with a field of that name."""

    n: int = 3


class Subclass(Out):
    """One that is the declared one, too."""


MADE: dict[str, Any] = {
    "as declared": lambda: Out(n=3),
    "a subclass": lambda: Subclass(n=3),
    "a dict": lambda: {"n": 3},
    "a dict with true": lambda: {"n": True},
    "constructed with true": lambda: Out.model_construct(n=True, inner=Inner()),
    "another model": lambda: Alike(),
    "a namespace": lambda: SimpleNamespace(n=3),
    "the class": lambda: Out,
    "a dict with more": lambda: {"n": 3, "zzz": 1},
    "a copy with more": lambda: Out(n=3).model_copy(update={"zzz": 1}),
    "a part with more": lambda: Out(inner=Inner().model_copy(update={"zzz": 1})),
    "an unconverted text": lambda: Out.model_construct(n="3", inner=Inner()),
    "one that its class refuses": lambda: Out(n="three"),
    "another model inside": lambda: Out.model_construct(n=3, inner=Alike()),
}


@pack("test.returns", version="1.0.0", effects="none", repeatable=True)
async def returns(_: PackContext, given: Wanted) -> Out:
    """Returns an object as it is told."""
    made: Out = MADE[given.how]()
    return made


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def it(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Product]:
    async with product(tmp_path_factory.mktemp("product"), [returns]) as running:
        yield running


async def returned(it: Product, how: str) -> dict[str, Any]:
    answer = await command(it, "runPack", pack="test.returns", input={"how": how}, waitSeconds=20)
    run: dict[str, Any] = answer["run"]
    return run


@pytest.mark.parametrize(
    ("how", "number"),
    [
        ("as declared", 3),
        ("a subclass", 3),
        ("a dict", 3),
        ("a dict with true", 1),
        ("constructed with true", 1),
    ],
)
async def test_what_is_declared_is_taken(it: Product, how: str, number: int) -> None:
    run = await returned(it, how)
    assert run["state"] == "SUCCEEDED", run["failure"]
    assert run["output"]["json"] == {"n": number, "inner": {"n": 0}}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("another model", "it must be an object"),
        ("a namespace", "it must be an object"),
        ("the class", "it must be an object"),
        ("a dict with more", "wrong at zzz"),
        ("a copy with more", "wrong at zzz"),
        ("a part with more", "wrong at inner.zzz"),
        ("an unconverted text", "wrong at n: it must be a whole number (given: '3')"),
        ("one that its class refuses", "wrong at n: it must be a whole number (given: 'three')."),
        ("another model inside", "wrong at inner"),
    ],
)
async def test_anything_else_is_refused_and_named(it: Product, how: str, said: str) -> None:
    run = await returned(it, how)
    assert (run["state"], run["failure"] and run["failure"]["code"]) == ("FAILED", "INVALID_OUTPUT"), run["output"]
    assert said in run["failure"]["message"]
    assert "ydantic" not in run["failure"]["message"]
