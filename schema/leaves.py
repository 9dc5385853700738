"""Plain leaf fields: attributes that are scalars, enums or lists of texts, read without what resolvers need.

That costs 7 µs each in graphql-core 3.3 with Strawberry 0.341, most of what a list costs. Whatever is unusual about
one, an exception, a null where none may be, an awaitable, is left to the ordinary path.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import cache
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeGuard

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLID,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLString,
    Undefined,
    get_nullable_type,
    is_leaf_type,
)
from strawberry.execution import optimized_is_awaitable
from strawberry.types.field import StrawberryField

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graphql import GraphQLField, GraphQLOutputType, GraphQLSchema

_LEAVES: Final = "packline-leaves"
#: Scalars of which values of one type are answered as they are.
_AS_THEY_ARE: Final[dict[object, type]] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}
#: Attributes of these types are neither awaitable nor errors.
_PLAIN: Final = frozenset({str, int, float, bool, datetime})


class Leaf(NamedTuple):
    """A field that is an attribute.

    Attributes:
        attribute: Which.
        write: Makes the answer of a value.
        nullable: Whether it may be null.
        plain: Values of this very type are answered as they are.
        items: Set of a list; its items of this very type are answered as they are.
    """

    attribute: str
    write: Callable[[Any], Any]
    nullable: bool
    plain: type | None
    items: type | None


def mark_leaves(schema: GraphQLSchema) -> None:
    """Find the plain leaf fields of every object type; called once, when the schema has its final resolvers."""
    for graphql_type in schema.type_map.values():
        if isinstance(graphql_type, GraphQLObjectType):
            found = {name: leaf for name, field in graphql_type.fields.items() if (leaf := leaf_of(field)) is not None}
            if found:
                graphql_type.extensions[_LEAVES] = found


def leaves_of(graphql_type: GraphQLObjectType) -> Mapping[str, Leaf]:
    """The plain leaf fields of a type by name, once its schema has been marked."""
    found: Mapping[str, Leaf] = graphql_type.extensions.get(_LEAVES, {})
    return found


def leaf_of(field: GraphQLField) -> Leaf | None:
    """How a field is read that is an attribute and a scalar or an enum; None for all others."""
    definition = field.extensions.get("strawberry-definition")
    plain = getattr(field.resolve, "_is_default", False) and not field.args  # Strawberry's mark for attributes
    if not plain or not isinstance(definition, StrawberryField) or definition.default_resolver is not getattr:
        return None
    nullable = not isinstance(field.type, GraphQLNonNull)
    inner = field.type.of_type if isinstance(field.type, GraphQLNonNull) else field.type
    items = plain_items(inner)
    if items is not None:
        return Leaf(definition.python_name, list, nullable, None, items)
    if not is_leaf_type(inner):
        return None
    write = inner.coerce_output_value
    # Strawberry looks an enum's member up anew each time, at 3 µs; there are few of them, and they never change.
    if isinstance(inner, GraphQLEnumType):
        write = cache(write)
    return Leaf(definition.python_name, write, nullable, _AS_THEY_ARE.get(inner), None)


def plain_items(kind: GraphQLOutputType) -> type | None:
    """The type of which items of a list are answered as they are; None of anything else."""
    return _AS_THEY_ARE.get(get_nullable_type(kind.of_type)) if isinstance(kind, GraphQLList) else None


def is_plain_list(value: object, items: type) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list of such items and nothing else."""
    if type(value) is not list and type(value) is not tuple:
        return False
    for item in value:  # noqa: SIM110 - a generator costs more than most of these lists
        if type(item) is not items:
            return False
    return True


def written_leaf(leaf: Leaf, source: Any) -> Any:
    """A plain attribute as it is answered; Undefined where something is unusual about it."""
    attribute, write, nullable, plain, items = leaf
    try:
        value = getattr(source, attribute)
        if type(value) is plain:
            return value
        if value is None:
            return None if nullable else Undefined
        if items is not None:
            return list(value) if is_plain_list(value, items) else Undefined
        if type(value) not in _PLAIN and not isinstance(value, Enum):
            if iscoroutine(value):
                value.close()  # the ordinary path asks again, and awaits
                return Undefined
            if isinstance(value, Exception) or optimized_is_awaitable(value):
                return Undefined
        found = write(value)
    except Exception:
        return Undefined
    return Undefined if found is None else found


def rows_of(
    items: list[Any], leaves: list[tuple[str, Leaf]], kind: GraphQLObjectType, info: Any
) -> list[dict[str, Any]] | None:
    """Objects as they are answered of which only plain leaves are asked for; None where something is unusual.

    Args:
        items: Of one list.
        leaves: What is asked for, by the name it is answered under.
        kind: What the items ought to be.
        info: What `is_type_of` is given.
    """
    is_type_of = kind.is_type_of
    rows: list[dict[str, Any]] = []
    try:
        for item in items:
            if is_type_of is not None and is_type_of(item, info) is not True:
                return None
            row: dict[str, Any] = {}
            for name, (attribute, write, nullable, plain, item_type) in leaves:
                value = getattr(item, attribute)
                if type(value) is plain:
                    row[name] = value
                    continue
                if value is None and nullable:
                    row[name] = None
                    continue
                if item_type is not None:
                    if not is_plain_list(value, item_type):
                        return None
                    row[name] = list(value)
                    continue
                if type(value) not in _PLAIN and not isinstance(value, Enum):
                    return None
                written = write(value)
                if written is None or written is Undefined:
                    return None
                row[name] = written
            rows.append(row)
    except Exception:
        return None  # the ordinary path says what and where
    return rows
