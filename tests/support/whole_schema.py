"""Everything that can be asked of the schema, as the SDL tells it: for tests that leave no field out.

for selection in packed("Run", 2, {"READ"}):      # each small enough to be sent
    answer = await client.execute(f"query ($id: ID!) {{ run(id: $id) {{ {selection} }} }}", {"id": run_id})

A field that is new to the schema is asked for, too; one that cannot be asked without an argument fails until
`ARGUMENTS` says what to give it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    get_named_type,
    is_abstract_type,
    is_leaf_type,
    is_required_argument,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

Composite = GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType

_SDL = Path(__file__).parents[2] / "schema" / "schema.graphql"
#: What is given to fields below the root that want something, as GraphQL text.
ARGUMENTS: Final = {"Pipeline.versionByNumber": "number: 1", "Run.step": 'key: "a"'}
#: Items asked of a list that has pages, and of one below the items of another.
PAGE: Final = 50
PAGE_BELOW: Final = 2
#: Selections and words of one request at most; the server counts fields, words, and pairs that share a name.
_TOGETHER: Final = 25
_WORDS: Final = 600
_FRAGMENT: Final = re.compile(r"\.\.\. on (\w+)")
#: Scopes that a scope carries, besides itself.
CARRIED: Final = {"OBSERVE": {"READ"}, "MANAGE": {"READ", "OBSERVE", "RUN", "WRITE"}}


@cache
def sdl() -> GraphQLSchema:
    """The schema as it is printed."""
    return build_schema(_SDL.read_text())


def composite(name: str) -> Composite:
    """A type with fields, or a union of some."""
    found = sdl().type_map[name]
    assert isinstance(found, GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType)
    return found


def root_fields(name: str) -> dict[str, GraphQLField]:
    """The fields of `Query`, `Mutation` or `Subscription`."""
    found = composite(name)
    assert isinstance(found, GraphQLObjectType)
    return found.fields


def scope_of(field: GraphQLField) -> str | None:
    """The scope that a field's `@requires` names."""
    for directive in (field.ast_node and field.ast_node.directives) or ():
        if directive.name.value == "requires":
            value: Any = directive.arguments[0].value
            return str(value.value)
    return None


def is_object(kind: Composite) -> bool:
    """Whether what is of a type has an id of its own to be fetched again by."""
    return kind.name == "Node" or (
        isinstance(kind, GraphQLObjectType | GraphQLInterfaceType)
        and any(interface.name == "Node" for interface in kind.interfaces)
    )


def members(kind: Composite) -> Sequence[GraphQLObjectType]:
    """The object types that something of a type can be of."""
    return sdl().get_possible_types(kind) if is_abstract_type(kind) else [kind]  # type: ignore[list-item]


def packed(name: str, depth: int, scopes: Collection[str], page: int = PAGE) -> Iterator[str]:
    """Selections that together ask something of a type for all that may be asked with some scopes.

    Args:
        name: The type.
        depth: How many objects with ids one behind the other; what has no id of its own is asked for throughout.
        scopes: Fields that need another one are left out.
        page: Items asked of the first list on the way that has pages.
    """
    held = frozenset(scopes).union(*(CARRIED.get(scope, ()) for scope in scopes))
    # Members of a union or an interface may have fields of one name and several types: each goes by itself.
    kinds: dict[tuple[str, ...], list[str]] = {}
    for selection in _selections(name, depth, held, (), page):
        together = kinds.setdefault(tuple(_FRAGMENT.findall(selection)), [])
        if len(together) == _TOGETHER or sum(len(each.split()) for each in (*together, selection)) > _WORDS:
            yield " ".join(together)
            together.clear()
        together.append(selection)
    yield from (" ".join(together) for together in kinds.values())


def _selections(name: str, depth: int, held: frozenset[str], inside: tuple[str, ...], page: int) -> Iterator[str]:
    kind = composite(name)
    for member in members(kind):
        for selection in _of_member(member, depth, held, inside, page):
            yield selection if member is kind else f"__typename ... on {member.name} {{ {selection} }}"


def _of_member(
    kind: GraphQLObjectType, depth: int, held: frozenset[str], inside: tuple[str, ...], page: int
) -> Iterator[str]:
    leaves = ["__typename"]
    for name, field in kind.fields.items():
        if (scope := scope_of(field)) is not None and scope not in held:
            continue
        below = get_named_type(field.type)
        called = name + _arguments(kind, name, field, page)
        below_page = PAGE_BELOW if "first" in field.args else page
        if is_leaf_type(below):
            leaves.append(called)
            continue
        target = composite(below.name)
        if is_object(target):
            # What the edges of a page hold is in its nodes, too.
            if depth and not kind.name.endswith("Edge"):
                yield from (
                    f"{called} {{ {part} }}" for part in _selections(target.name, depth - 1, held, (), below_page)
                )
            else:
                leaves.append(f"{called} {{ __typename id }}")
        elif target.name not in inside:
            nested = _selections(target.name, depth, held, (*inside, kind.name), below_page)
            yield from (f"{called} {{ {part} }}" for part in nested)
    yield " ".join(leaves)


def _arguments(kind: Composite, name: str, field: GraphQLField, page: int) -> str:
    given = ARGUMENTS.get(f"{kind.name}.{name}")
    if given is None:
        wanting = [argument for argument, declared in field.args.items() if is_required_argument(declared)]
        assert not wanting, f"say in ARGUMENTS what to give to {kind.name}.{name}: {wanting}"
        given = f"first: {page}" if "first" in field.args else ""
    return f"({given})" if given else ""


def parameters(field: GraphQLField, variables: Mapping[str, object]) -> tuple[str, str]:
    """How variables are declared and passed to a field of the root."""
    declared = ", ".join(f"${name}: {field.args[name].type}" for name in variables)
    passed = ", ".join(f"{name}: ${name}" for name in variables)
    return (f"({declared})", f"({passed})") if variables else ("", "")
