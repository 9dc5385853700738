"""Plain leaf fields: attributes that are scalars, enums or lists of them, read without what resolvers need.

That costs 7 µs each in graphql-core 3.3 with Strawberry 0.341, most of what a list costs. Whatever is unusual about
one, an exception, a null where none may be, an awaitable, is left to the ordinary path. What resolvers return is
written the same way.
"""

# ruff: noqa: ANN401 - the signatures are graphql-core's
from __future__ import annotations

from datetime import datetime
from enum import Enum
from functools import cache
from inspect import iscoroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from graphql import (
    GraphQLBoolean,
    GraphQLEnumType,
    GraphQLID,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLString,
    Undefined,
    is_leaf_type,
)
from strawberry.execution import optimized_is_awaitable
from strawberry.types.field import StrawberryField

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from graphql import GraphQLField, GraphQLOutputType, GraphQLSchema

_LEAVES: Final = "packline-leaves"
#: Scalars of which values of one type are answered as they are.
_AS_THEY_ARE: Final[dict[object, type]] = {GraphQLString: str, GraphQLID: str, GraphQLBoolean: bool}
#: Values of these types are neither awaitable nor errors; members of enums neither.
_AT_HAND: Final = frozenset({str, int, float, bool, datetime, list, tuple, dict})


class Leaf(NamedTuple):
    """How values of a field are answered that is a leaf, or a list of leaves.

    Attributes:
        attribute: Where they are read; empty when a resolver returns them.
        write: Makes the answer of a value that is not null; raises where something is unusual about it.
        nullable: Whether it may be null.
        plain: Values of this very type are answered as they are.
    """

    attribute: str
    write: Callable[[Any], Any]
    nullable: bool
    plain: type | None


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
    """How a field is read that is an attribute and a leaf; None for all others."""
    definition = field.extensions.get("strawberry-definition")
    plain = getattr(field.resolve, "_is_default", False) and not field.args  # Strawberry's mark for attributes
    if not plain or not isinstance(definition, StrawberryField) or definition.default_resolver is not getattr:
        return None
    return leaf_type_of(field.type, definition.python_name)


def leaf_type_of(kind: GraphQLOutputType, attribute: str = "") -> Leaf | None:
    """How values of a type are answered; None of one that is neither a leaf nor a list of them."""
    nullable, inner = _nullable(kind)
    if isinstance(inner, GraphQLList):
        write = _list_writer(inner.of_type)
        return None if write is None else Leaf(attribute, write, nullable, None)
    return Leaf(attribute, _writer(inner), nullable, _AS_THEY_ARE.get(inner)) if is_leaf_type(inner) else None


def _nullable(kind: GraphQLOutputType) -> tuple[bool, Any]:
    return (False, kind.of_type) if isinstance(kind, GraphQLNonNull) else (True, kind)


def _writer(kind: Any) -> Callable[[Any], Any]:
    # Strawberry looks an enum's member up anew each time, at 3 µs; there are few of them, and they never change.
    write: Callable[[Any], Any] = kind.coerce_output_value
    return cache(write) if isinstance(kind, GraphQLEnumType) else write


def _list_writer(item_type: GraphQLOutputType) -> Callable[[Any], list[Any]] | None:
    """Makes the answer of a list; None where its items are no leaves."""
    nullable, inner = _nullable(item_type)
    if not is_leaf_type(inner):
        return None
    write, plain = _writer(inner), _AS_THEY_ARE.get(inner)

    def written(values: Iterable[Any]) -> list[Any]:
        if type(values) is not list and type(values) is not tuple:
            raise TypeError("no list")
        items = []
        for value in values:
            if type(value) is plain or (value is None and nullable):
                items.append(value)
            else:
                items.append(_written(write, value))
        return items

    return written


def _written(write: Callable[[Any], Any], value: Any) -> Any:
    """The answer of one value.

    Raises:
        TypeError: something is unusual about it.
    """
    sure = type(value) in _AT_HAND or isinstance(value, Enum)
    if not sure and (isinstance(value, Exception) or optimized_is_awaitable(value)):
        raise TypeError("an error, or to be awaited")
    found = write(value)
    if found is None or found is Undefined:
        raise TypeError("null")
    return found


def written_leaf(leaf: Leaf, value: Any) -> Any:
    """A value as it is answered; Undefined where something is unusual about it."""
    _, write, nullable, plain = leaf
    if type(value) is plain:
        return value
    if value is None:
        return None if nullable else Undefined
    try:
        return _written(write, value)
    except Exception:
        return Undefined  # the ordinary path says what and where


def write_leaves(leaves: Iterable[tuple[str, Leaf]], source: Any, answer: dict[str, Any]) -> bool:
    """Writes plain attributes into an answer; False where something is unusual about one.

    Args:
        leaves: Which, by the names they are answered under.
        source: Whose attributes.
        answer: Takes them.
    """
    value = None
    try:
        for name, (attribute, write, nullable, plain) in leaves:
            value = getattr(source, attribute)
            if type(value) is plain or (value is None and nullable):
                answer[name] = value
            else:
                answer[name] = _written(write, value)
    except Exception:
        if iscoroutine(value):
            value.close()  # the ordinary path asks again, and awaits
        return False  # it says what and where, too
    return True
