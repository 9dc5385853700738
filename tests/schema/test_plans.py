"""One document executed again and again: what is kept of it must not show in any answer."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import weakref
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from types import FunctionType
from typing import Annotated, Generic, TypeVar

import pytest
import strawberry
from graphql import GraphQLObjectType, GraphQLSchema, OperationDefinitionNode, parse
from graphql import execute as plainly
from graphql.execution import Executor

import schema
from schema.execution import OperationExecutor
from schema.executors import executor_of
from schema.guarded import GuardedSchema
from schema.leaves import leaf_of
from schema.loading import loaded
from schema.members import members_of
from schema.objects import ObjectExecutor
from schema.plans import PlanBook
from schema.resolver_calls import ShortResolver
from schema.returned import returned_of
from schema.scalars import JSON


@strawberry.interface
class Named:
    name: str


@strawberry.type
class Leaf(Named):
    size: int | None = None


@strawberry.type
class Tree(Named):
    age: int = 0

    @strawberry.field
    @loaded
    async def leaves(self, many: int = 2) -> list[Leaf]:
        return [Leaf(name=f"{self.name}{number}", size=number or None) for number in range(many)]

    @strawberry.field
    def broken(self) -> str | None:
        raise LookupError(f"{self.name} is broken")

    @strawberry.field
    def strict(self) -> str:
        return None if self.name == "elm" else self.name  # type: ignore[return-value]

    @strawberry.field
    def noted(self, note: JSON) -> JSON:
        seen = note
        assert isinstance(seen, dict)
        seen["at"] = self.name
        return seen


@strawberry.type
class Labels:
    words: list[str]
    maybe: list[str | None] | None
    odd: list[str]

    @strawberry.field
    def told(self) -> list[str]:
        return self.words


@strawberry.enum
class Colour(Enum):
    RED = "r"
    BLUE = "b"


@strawberry.input
class Wish:
    colour: Colour = Colour.RED
    sizes: list[int] = strawberry.field(default_factory=lambda: [1])


class Grown(Tree):
    """No class that the schema knows, but a tree all the same."""


@strawberry.type
class Crate:
    """What is odd about it depends on its number."""

    number: int
    note: str | None
    at: datetime
    colour: Colour

    @strawberry.field
    def colours(self) -> list[Colour]:
        return [Colour.RED, "green", Colour.BLUE][self.number % 3 :: 2]  # type: ignore[return-value]

    @strawberry.field
    def maybe_colours(self) -> list[Colour | None] | None:
        return [None, Colour.RED] if self.number % 2 else None

    @strawberry.field
    def counts(self) -> list[float]:
        return [1.5, self.number, float("nan") if self.number == 4 else 2]

    @strawberry.field
    def tree(self) -> Tree | None:
        return [Tree(name="oak"), None, Grown(name="elm"), Leaf(name="no tree")][self.number % 4]  # type: ignore[return-value]

    @strawberry.field
    @loaded
    async def own(self) -> Tree:
        if self.number == 2:
            await asyncio.sleep(0)
        if self.number == 3:
            raise LookupError("none")
        return Tree(name=str(self.number))

    @strawberry.field
    def trees(self) -> list[Tree] | None:
        return {1: [Tree(name="oak"), Grown(name="elm")], 2: [Tree(name="oak"), LookupError("gone")]}.get(  # type: ignore[return-value]
            self.number, None if self.number == 3 else [Tree(name="oak"), Tree(name="ash")]
        )

    @strawberry.field
    def wished(self, info: strawberry.Info, wish: Wish | None = None, times: int = 1) -> str:
        told = f"{info.field_name} {info.path.key} {info.python_name} {len(info.selected_fields)}"
        return f"{told} {None if wish is None else (wish.colour.name, wish.sizes)} {times}"

    @strawberry.field
    def failed(self) -> str | None:
        return LookupError("returned") if self.number % 2 else "fine"  # type: ignore[return-value]

    @strawberry.field
    def late(self) -> list[str]:
        async def told() -> list[str]:
            await asyncio.sleep(0)
            return ["late"]

        return told() if self.number % 2 else ["early"]  # type: ignore[return-value]


class Odd:
    """No class of the schema at all; what is asked of it waits, or is no text."""

    number = 5
    at = "yesterday"
    colour = Colour.BLUE

    @property
    def note(self) -> object:
        async def told() -> str:
            await asyncio.sleep(0)
            return "awaited"

        return told()


def _crates(count: int) -> list[Crate]:
    return [
        Crate(number=number, note=None if number % 2 else "n", at=datetime(2026, 1, 2, tzinfo=UTC), colour=Colour.RED)
        for number in range(count)
    ]


_SHARED = ["a", "b"]


Item = TypeVar("Item")


@strawberry.type
class Box(Generic[Item]):
    item: Item


class Sapling(Tree):
    pass


Found = Annotated[Tree | Leaf | Box[int] | Box[str], strawberry.union("Found")]


def _labels() -> Labels:
    return Labels(words=_SHARED, maybe=["a", None], odd=["a", 7])  # type: ignore[list-item]


@strawberry.type
class Query:
    @strawberry.field
    def labels(self) -> Labels:
        return _labels()

    @strawberry.field
    def listed(self) -> list[Labels]:
        return [Labels(words=("a",), maybe=None, odd=[]), _labels()]  # type: ignore[arg-type]

    @strawberry.field
    def nulled(self) -> list[Labels | None]:
        return [Labels(words=[], maybe=[], odd=[]), Labels(words=["a", None], maybe=[], odd=[])]  # type: ignore[list-item]

    @strawberry.field
    def trees(
        self, first: int = 2, called: Annotated[str | None, strawberry.argument(name="named")] = None
    ) -> list[Tree]:
        return [Tree(name=name) for name in (["oak", "elm", "ash"] if called is None else [called])[:first]]

    @strawberry.field
    def things(self) -> list[Named]:
        return [Leaf(name="leaf"), Tree(name="tree", age=9)]

    @strawberry.field
    def found(self, odd: bool = False) -> list[Found | None]:
        some = [Leaf(name="leaf"), None, Box(item=7), Tree(name="elm"), Box(item="seven"), Sapling(name="new")]
        return [*some, *([Labels(words=[], maybe=None, odd=[]), "nothing"] if odd else [])]  # type: ignore[list-item]

    @strawberry.field
    def waiting(self) -> Found:
        return asyncio.sleep(0, Tree(name="late"))  # type: ignore[return-value]

    @strawberry.field
    def crates(self, count: int = 5) -> list[Crate]:
        return _crates(count)

    @strawberry.field
    def crate(self, wish: Wish | None = None, colour: Colour = Colour.RED, sizes: list[int] | None = None) -> Crate:
        made = _crates(1)[0]
        made.note = f"{None if wish is None else (wish.colour.name, wish.sizes)} {colour.name} {sizes}"
        return made

    @strawberry.field
    def odd(self) -> list[Crate | None]:
        return [*_crates(2), Odd(), None]  # type: ignore[list-item]

    @strawberry.field
    def maybe(self) -> list[Tree | None]:
        return [Tree(name="oak"), None]


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def planted(self, name: str, words: JSON = JSON({}), fail: bool = False) -> Tree:  # noqa: B008
        _PLANTED.append(name)
        await asyncio.sleep(0)
        if fail:
            raise LookupError(name)
        return Tree(name="/".join((*_PLANTED, *words)))  # type: ignore[misc]


_PLANTED: list[str] = []


@dataclass
class Context:
    at_once: bool = True
    gathers: bool = field(default=False)


SCHEMA = GuardedSchema(Query, Mutation, types=(Leaf, Tree))

DOCUMENTS = [
    ("{ labels { words told } listed { words maybe odd } }", [{}]),
    ("{ listed { words told } }", [{}]),
    ("{ nulled { odd words } }", [{}]),
    ("{ nulled { told } }", [{}]),
    ("{ labels { odd } }", [{}]),
    ("{ trees(first: 3) { name strict } }", [{}]),
    ("{ trees(first: 3) { strict leaves { size } broken } }", [{}]),
    ("{ trees { name age } }", [{}]),
    ("query ($n: Int!) { trees(first: $n) { name } }", [{"n": 1}, {"n": 3}, {"n": "x"}, {"n": None}, {}, {"n": 0}]),
    ("query ($n: Int) { trees(first: $n) { name } }", [{"n": 1}, {}, {"n": None}, {"n": 3}]),
    ("query ($n: Int = 1) { trees(first: $n) { name } }", [{"n": None}, {}, {"n": 3}]),
    ('query ($n: String) { trees(named: $n) { name } oak: trees(named: "fir") { id: name } }', [{"n": "yew"}, {}]),
    (
        "query ($a: Boolean!, $b: Boolean = true) { trees { name @include(if: $a) age @skip(if: $b) "
        "leaves @include(if: $a) { size } } }",
        [{"a": a, "b": b} for a in (True, False) for b in (True, False)] + [{"a": True}, {"a": False}],
    ),
    (
        "{ things { __typename name ... on Tree { age leaves(many: 1) { ...L } } ...L } } fragment L on Leaf { size }",
        [{}],
    ),
    (
        "query ($o: Boolean) { found(odd: $o) { __typename ... on Tree { strict leaves { size } } ... on Leaf { size } "
        "... on IntBox { item } ... on StrBox { text: item } } }",
        [{}, {"o": True}],
    ),
    ("{ found { ... on Named { name } } waiting { ... on Tree { name broken } } }", [{}]),
    ("{ trees { name broken } }", [{}]),
    ("{ trees { name strict } }", [{}]),
    ("{ maybe { name strict } }", [{}]),
    ("{ crates { b: colour __typename number at note c: colour } }", [{}]),
    ("{ crates { number colours note maybeColours } }", [{}]),
    ("{ crates { colours } }", [{}]),
    ("{ crates(count: 1) { colours maybeColours counts } }", [{}]),
    ("{ crates { number counts } }", [{}]),
    ("{ crates { tree { name age leaves { name } } number } }", [{}]),
    ("{ crates { number own { name } } }", [{}]),
    ("{ crates(count: 3) { own { name strict } number } }", [{}]),
    ("{ crates { number trees { name age } } }", [{}]),
    ("{ crates { number trees { name broken } } }", [{}]),
    ("{ crates(count: 2) { trees { name } tree { name } own { leaves { size } } } }", [{}]),
    ("{ crates { wished a: wished(times: 2) b: wished(wish: {colour: BLUE}) } }", [{}]),
    (
        "query ($w: Wish, $n: Int = 3) { crates(count: 1) { wished(wish: $w, times: $n) } }",
        [{}, {"w": None}, {"w": {}}, {"w": {"sizes": [2, 3]}, "n": 4}, {"w": {"colour": "RED"}}, {"w": 7}],
    ),
    (
        "query ($w: Wish = {sizes: [9]}, $c: Colour = BLUE, $s: [Int!] = [4]) "
        "{ crate(wish: $w, colour: $c, sizes: $s) { note } }",
        [{}, {"w": None}, {"c": "RED"}, {"c": None}, {"s": [5]}, {"s": 6}, {"s": None, "w": {}}, {"c": "GREEN"}],
    ),
    ("{ crates { failed late } }", [{}]),
    ("{ crates { late number } other: crates(count: 2) { number failed } }", [{}]),
    ("{ odd { number note } }", [{}]),
    ("{ odd { number } }", [{}]),
    ("{ odd { at number } }", [{}]),
    ("{ odd { colour number } }", [{}]),
    ("{ maybe { name } other: maybe { __typename } }", [{}]),
    ("query A { trees { name } } query B { trees { age } }", [{}]),
    ("{ trees { noted(note: {}) other: noted(note: {a: 1}) } }", [{}]),
    ("query ($n: JSON!) { trees { noted(note: $n) } }", [{"n": {}}, {"n": {"b": 2}}]),
    ("query ($n: JSON!) { trees { noted(note: {inner: $n}) } }", [{"n": 1}, {"n": {"b": 2}}, {"n": [1, 2]}]),
    (
        "query ($n: Int = 2, $t: String) { trees(first: $n, named: $t) { leaves(many: $n) { name } } }",
        [{}, {"n": 1}, {"t": "yew"}, {"n": None}, {"n": 3, "t": None}, {"n": [1]}, {"n": 1.5}, {"t": 7}, {}],
    ),
    (
        "query ($n: Int!) { trees(first: $n) { ...T } } fragment T on Tree { leaves(many: $n) { name } }",
        [{"n": 1}, {"n": 2}],
    ),
    ("{ __schema { mutationType { name } } }", [{}]),
    ("mutation ($n: String!) { planted(name: $n) { name } }", [{"n": "oak"}, {"n": "elm"}, {}]),
    ('mutation ($f: Boolean!) { planted(name: "a", words: {w: 1}, fail: $f) { name } }', [{"f": True}, {"f": False}]),
    (
        'mutation ($n: String!, $w: JSON!) { planted(name: "oak", words: $w) { name } '
        "elm: planted(name: $n) { name } }",
        [{"n": "elm", "w": {}}, {"n": "fir", "w": {"a": 1}}, {"n": 1, "w": {}}],
    ),
]


@pytest.mark.parametrize(("document", "given"), DOCUMENTS)
@pytest.mark.parametrize("at_once", [True, False])
async def test_every_execution_answers_as_graphql_core_would(document, given, at_once):
    names = ("A", "B") if "query A" in document else (None,)
    for _ in range(3):
        for variables in given:
            for name in names:
                _PLANTED.clear()
                ours = await SCHEMA.execute(document, dict(variables), Context(at_once), operation_name=name)
                _PLANTED.clear()
                theirs = plainly(
                    SCHEMA._schema, parse(document), None, Context(False), dict(variables), operation_name=name
                )
                theirs = theirs if not hasattr(theirs, "__await__") else await theirs
                assert ours.data == theirs.data
                assert json.dumps(ours.data) == json.dumps(theirs.data), "in the order asked for"
                told = [(error.path, error.locations) for error in ours.errors or ()]
                assert told == [(error.path, error.locations) for error in theirs.errors or ()]


async def test_lists_that_are_answered_as_they_are_stay_their_owners():
    result = await SCHEMA.execute("{ labels { words told } listed { words } }", {}, Context())
    assert result.data is not None
    for words in (result.data["labels"]["words"], result.data["labels"]["told"], result.data["listed"][1]["words"]):
        words.append("c")
    assert _SHARED == ["a", "b"]


async def test_an_executor_of_a_known_document_shares_nothing_that_changes():
    document, plans = parse("{ labels { words } }"), PlanBook(parse("{ labels { words } }"))

    def executor() -> OperationExecutor:
        made = executor_of(
            SCHEMA._schema, document, plans, operation=None, variables={}, context=Context(), root=None, extensions=None
        )
        assert isinstance(made, OperationExecutor)
        return made

    first, second = executor(), executor()
    built = OperationExecutor.build(SCHEMA._schema, document, plans=plans)
    assert first.__dict__.keys() == second.__dict__.keys() == built.__dict__.keys()
    shared = {name for name, value in vars(first).items() if value is getattr(second, name)}
    fixed = (type(None), bool, GraphQLSchema, OperationDefinitionNode, FunctionType)
    kept = {name for name in shared if not isinstance(getattr(first, name), fixed)}
    # Of the document; plans are there to be filled; of what is left over nothing is used without `@defer`, `@stream`.
    of_document = {"fragments", "fragment_definitions", "_plans", "_relevant_sub_fields"}
    unused = {"_initial_execution_plans", "_deferred_execution_plans", "_stream_usages"}
    assert kept == of_document | unused
    assert first.async_helpers.track.__self__ is first, "what it tracks is its own"
    for name in unused:
        assert not getattr(first, name), "nothing defers"


async def test_an_executor_goes_with_the_last_that_holds_it():
    document = parse("{ labels { told } }")
    plans = PlanBook(document)
    gc.collect()
    gc.disable()
    try:
        for _ in range(2):
            made = executor_of(
                SCHEMA._schema,
                document,
                plans,
                operation=None,
                variables={},
                context=Context(),
                root=None,
                extensions=None,
            )
            assert isinstance(made, OperationExecutor)
            made.execute_operation()
            gone = weakref.ref(made)
            del made
            assert gone() is None, "a ring of objects waits for the collection of garbage, which looks at all of them"
    finally:
        gc.enable()


async def test_what_a_request_carried_does_not_stay_with_its_document():
    document = "query ($n: String) { trees(named: $n) { name } }"
    await SCHEMA.execute(document, {"n": "yew"}, Context())
    plans = SCHEMA.documents.get(document).plans
    assert plans is not None
    kept = plans.executors[None]
    assert kept.context_value is None
    assert kept.variable_values.coerced == {}


def test_what_is_overridden_is_called_so_by_graphql_core():
    ours = vars(OperationExecutor) | vars(ObjectExecutor)
    own = {name for name in ours if not name.startswith("_")} - {"follow"}
    bases = [vars(base) | vars(base).get("__annotations__", {}) for base in ObjectExecutor.__mro__[1:]]
    theirs = {name for name in own if any(name in base for base in bases)}
    assert own == theirs, "what a newer version renamed would be called no more, and nothing but the time would tell"
    assert "_relevant_sub_fields" in inspect.getsource(Executor), "where plans keep the fields of selections"


def test_plain_fields_are_known_as_such():
    graphql = SCHEMA._schema.type_map["Tree"]
    assert isinstance(graphql, GraphQLObjectType)
    found = {name: leaf_of(field) for name, field in graphql.fields.items()}
    assert {name for name, leaf in found.items() if leaf is not None} == {"name", "age"}, "Strawberry marks attributes"
    assert found["name"].plain is str


def test_members_are_known_by_their_class_where_it_says_all():
    kinds = SCHEMA._schema.type_map
    for abstract, classes in (("Named", {Leaf, Tree}), ("Found", {Leaf, Tree})):
        assert {origin: kind.name for origin, kind in members_of(kinds[abstract]).items()} == {  # type: ignore[arg-type]
            origin: origin.__name__ for origin in classes
        }


async def test_plans_of_many_conditions_are_not_kept():
    flags = [f"f{number}" for number in range(6)]
    declared = ", ".join(f"${flag}: Boolean!" for flag in flags)
    asked = " ".join(f"{flag}: name @include(if: ${flag})" for flag in flags)
    document = f"query ({declared}) {{ trees {{ {asked} }} }}"
    for wanted in flags:
        result = await SCHEMA.execute(document, {flag: flag == wanted for flag in flags}, Context())
        assert result.data == {"trees": [{wanted: "oak"}, {wanted: "elm"}]}
    plans = SCHEMA.documents.get(document).plans
    assert plans is not None
    assert len(plans._plans) == 0


async def test_arguments_come_as_strawberry_makes_them():
    document = "query ($w: Wish, $n: Int = 3) { crates(count: 1) { wished(wish: $w, times: $n) } }"
    told = []
    for variables in ({}, {"w": None, "n": 1}, {"w": {}}, {"w": {"colour": "BLUE", "sizes": [2]}}):
        result = await SCHEMA.execute(document, variables, Context())
        assert result.data is not None
        told.append(result.data["crates"][0]["wished"])
    head = "wished wished wished 1 "
    assert told == [f"{head}None 3", f"{head}None 1", f"{head}('RED', [1]) 3", f"{head}('BLUE', [2]) 3"]


def test_what_a_variable_is_by_default_is_shared_only_where_nobody_can_change_it():
    document = parse("query ($note: JSON = {a: 1}, $count: Int = 3) { trees(first: $count) { noted(note: $note) } }")
    plans = PlanBook(document)
    values = []
    for _ in range(3):
        executor = executor_of(
            SCHEMA._schema, document, plans, operation=None, variables={}, context=Context(), root=None, extensions=None
        )
        assert isinstance(executor, OperationExecutor)
        values.append(executor.variable_values.coerced)
    assert values == [{"note": {"a": 1}, "count": 3}] * 3
    assert len({id(value["note"]) for value in values}) == 3


def test_how_fields_are_answered_is_known_by_their_types():
    kinds = SCHEMA._schema.type_map
    crate, tree = kinds["Crate"], kinds["Tree"]
    assert isinstance(crate, GraphQLObjectType)
    told = {name: returned_of(field.type) for name, field in crate.fields.items()}
    assert {name for name, known in told.items() if known.kind is tree} == {"tree", "own", "trees"}
    assert {name for name, known in told.items() if known.item_type is not None} == {"trees"}
    assert {told[name].origin for name in ("tree", "own", "trees")} == {Tree}
    assert all(told[name].leaf is not None for name in told.keys() - {"tree", "own", "trees"})
    assert {type(field.resolve) for name, field in crate.fields.items() if name in ("own", "colours")} == {
        ShortResolver
    }


def test_nothing_is_cast():
    sources = Path(schema.__file__).parent.glob("*.py")
    assert not [path.name for path in sources if "strawberry.cast(" in path.read_text()], "objects are of their class"
