"""Models checked again: what is wrong is found wherever a field declares it, and what is right is left alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, NamedTuple

import pytest
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    RootModel,
    ValidationInfo,
    computed_field,
    field_validator,
)
from typing_extensions import TypedDict

from runner.packs.revalidation import find_misfit


class Item(BaseModel):
    number: int = Field(ge=1)


class Row(TypedDict):
    item: Item


class Pair(NamedTuple):
    left: Item
    right: Item


@dataclass
class Box:
    item: Item


class Items(RootModel[list[Item]]):
    pass


class Node(BaseModel):
    number: int = Field(1, ge=1)
    parent: Node | None = Field(default=None, exclude=True)
    children: list[Node] = Field(default_factory=list)


class Circle(BaseModel):
    kind: Literal["circle"] = "circle"
    radius: int = Field(ge=1)


class Square(BaseModel):
    kind: Literal["square"] = "square"
    side: int = Field(ge=1)


class Everything(BaseModel):
    row: Row | None = None
    pair: Pair | None = None
    box: Box | None = None
    items: Items = Items([])
    by_name: dict[str, dict[str, tuple[Item, ...]]] = {}
    shapes: list[Annotated[Circle | Square, Field(discriminator="kind")]] = []
    node: Node | None = None
    free: Any = None
    json_value: JsonValue = None


WRONG = Item.model_construct(number=0)


@pytest.mark.parametrize(
    ("field", "value", "path"),
    [
        ("row", {"item": WRONG}, ("row", "item")),
        ("pair", Pair(Item(number=1), WRONG), ("pair", 1)),
        ("box", Box(WRONG), ("box", "item")),
        ("items", Items.model_construct([Item(number=1), WRONG]), ("items", 1)),
        ("by_name", {"a": {"b": (WRONG,)}}, ("by_name", "a", "b", 0)),
        ("shapes", [Circle(radius=1), Square.model_construct(side=0)], ("shapes", 1)),
        ("node", Node(children=[Node(children=[Node.model_construct(number=0)])]), ("node", *["children", 0] * 2)),
    ],
)
def test_a_misfit_is_found_at_its_place(field: str, value: object, path: tuple[str | int, ...]) -> None:
    model = Everything().model_copy(update={field: value})
    found = find_misfit(model)
    assert found is not None
    assert found[0] == path
    assert found[1].error_count() == 1


class Lax(BaseModel):
    """Its default is one it would refuse when given."""

    number: int = Field(default=0, ge=1)
    others: list[int] = Field(default=[], min_length=1)


@pytest.mark.parametrize("model", [Lax.model_construct(number=0), Lax().model_copy(update={"number": -1})])
def test_a_default_that_was_given_is_held_to_the_rules(model: BaseModel) -> None:
    assert find_misfit(model) is not None


def test_a_list_changed_after_its_check_is_found() -> None:
    class Numbers(BaseModel):
        numbers: list[int] = []

    model = Numbers(numbers=[1])
    model.numbers.append("seven")  # type: ignore[arg-type]
    found = find_misfit(model)
    assert found is not None
    assert [issue["loc"] for issue in found[1].errors()] == [("numbers", 1)]


class Defaulted(BaseModel):
    number: int = 1
    name: str = ""


@pytest.mark.parametrize("kind", [Item, Defaulted])
def test_a_field_left_out_is_found(kind: type[BaseModel]) -> None:
    model = kind.model_construct(number=1)
    del model.number  # type: ignore[attr-defined]
    found = find_misfit(model)
    assert found is not None
    assert [(issue["type"], issue["loc"]) for issue in found[1].errors()] == [("missing", ("number",))]


class Aliased(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    text: str = Field(alias="textAlias", validation_alias="given-text")


class Named(BaseModel):
    """Made from other arguments than its fields."""

    model_config = ConfigDict(extra="forbid")
    name: str
    _seen: list[str] = PrivateAttr(default_factory=list)

    def __init__(self, first: str, last: str) -> None:
        super().__init__(name=f"{first} {last}")

    @computed_field
    @cached_property
    def initials(self) -> str:
        return "".join(part[0] for part in self.name.split())


class Growing(BaseModel):
    """Its validators never give the same twice."""

    text: str
    words: list[str] = []

    @field_validator("text")
    @classmethod
    def longer(cls, value: str) -> str:
        return f"{value}!"

    @field_validator("words", mode="before")
    @classmethod
    def sorted_in_place(cls, value: list[str], info: ValidationInfo) -> list[str]:
        return [*value, "more"]


class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Item]


class Checked(BaseModel):
    item: Annotated[Item, AfterValidator(lambda item: item)]


def looped() -> Everything:
    parent = Node()
    parent.children.append(Node(parent=parent))
    return Everything(node=parent)


def named() -> Named:
    made = Named("Ada", "Lovelace")
    assert made.initials == "AL"
    return made


@pytest.mark.parametrize(
    "model",
    [
        Aliased(**{"given-text": "a"}),
        named(),
        Growing(text="a", words=["b"]),
        Open(more=Item(number=1)),  # type: ignore[call-arg]
        Lax(),
        Lax(others=[2]),
        Everything(free=[WRONG], json_value={"a": [1, None]}),
        Everything(box=Box(Item(number=2)), pair=Pair(Item(number=1), Item(number=1)), row={"item": Item(number=3)}),
        looped(),
        Checked(item=Item(number=1)),
        Items([Item(number=1)]),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_fits_is_left_as_it_is(model: BaseModel) -> None:
    before = dict(model.__dict__), repr(model) if not isinstance(model, Everything) else ""
    assert find_misfit(model) is None
    assert (dict(model.__dict__), repr(model) if before[1] else "") == before


def test_what_an_open_model_was_given_is_checked() -> None:
    found = find_misfit(Open.model_construct(more={"number": 0}))
    assert found is not None
    assert [issue["loc"] for issue in found[1].errors()] == [("more", "number")]
