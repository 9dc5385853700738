"""What a pack gives is held to what it declares, however the pack made it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field, field_validator

from packline import PackContext, pack
from tests.support.surfaces import states

if TYPE_CHECKING:
    from tests.contract.api.conftest import Api

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Unfit(BaseModel):
    """How an output is made past its model."""

    how: str = Field(description="`constructed`, `copied`, `assigned`, `nested`, `listed`, `mapped` or `fitting`.")


class Amount(BaseModel):
    """One amount."""

    amount: int = Field(description="A positive number.", ge=1)

    @field_validator("amount")
    @classmethod
    def even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("odd amounts are not kept")
        return value


class Bill(Amount):
    """An amount, and those it is made of."""

    main: Amount | None = Field(default=None, description="The largest.")
    parts: list[Amount] = Field(default_factory=list, description="All of them.")
    by_name: dict[str, list[Amount]] = Field(default_factory=dict, description="The same, by name.")
    note: Any = Field(default=None, description="Anything.")


@pack("test.unfit", version="1.0.0", effects="none", repeatable=True)
async def unfit(ctx: PackContext, given: Unfit) -> Bill:
    """Gives an instance of its model that does not fit it."""
    wrong, bill = Amount.model_construct(amount=-2), Bill(amount=2)
    match given.how:
        case "constructed":
            return Bill.model_construct(amount=-2)
        case "copied":
            return bill.model_copy(update={"amount": 3})
        case "assigned":
            bill.amount = -2
        case "nested":
            bill.main = wrong
        case "listed":
            bill.parts.extend((Amount(amount=2), wrong))
        case "mapped":
            bill.by_name["a"] = [wrong]
        case _:
            bill = Bill(amount=4, main=Amount(amount=2), parts=[Amount(amount=2)], note=wrong)
    return bill


#: What the house has beside its usual packs.
PACKS = (unfit,)


@pytest.mark.parametrize(
    ("how", "place"),
    [
        ("constructed", "amount"),
        ("copied", "amount"),
        ("assigned", "amount"),
        ("nested", "main.amount"),
        ("listed", "parts.1.amount"),
        ("mapped", "by_name.a.0.amount"),
    ],
)
@states("run_pack")
async def test_an_output_is_checked_however_its_model_was_made(api: Api, how: str, place: str) -> None:
    run = (await api.me.call("run_pack", pack="test.unfit", input={"how": how}, waitSeconds=20))["run"]
    assert (run["state"], run["failure"]["code"]) == ("FAILED", "INVALID_OUTPUT")
    assert f"wrong at {place}:" in run["failure"]["message"]


@states("run_pack")
async def test_only_what_an_output_declares_is_checked(api: Api) -> None:
    run = (await api.me.call("run_pack", pack="test.unfit", input={"how": "fitting"}, waitSeconds=20))["run"]
    assert run["state"] == "SUCCEEDED", run["failure"]
    assert run["output"]["json"]["note"] == {"amount": -2}
