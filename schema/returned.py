"""What fields lead to, as far as their types tell: found out once, and not looked for in each value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from graphql import GraphQLList, GraphQLNonNull, GraphQLObjectType, get_nullable_type
from strawberry.types.base import StrawberryObjectDefinition

from schema.leaves import leaf_type_of

if TYPE_CHECKING:
    from graphql import GraphQLOutputType

    from schema.leaves import Leaf


class Returned(NamedTuple):
    """What a field leads to, as far as its type tells.

    Attributes:
        nullable: Whether it may be null.
        leaf: How it is answered when it is a leaf, or a list of leaves.
        kind: The type of an object, or of the items of a list; None of anything else.
        origin: The class of all those objects, unless something is unusual about one.
        item_type: Of a list of objects: their type, null allowed or not.
    """

    nullable: bool
    leaf: Leaf | None
    kind: GraphQLObjectType | None
    origin: type | None
    item_type: GraphQLOutputType | None


#: Of a field that nothing has to be known of.
NOTHING_KNOWN: Final = Returned(nullable=False, leaf=None, kind=None, origin=None, item_type=None)


def returned_of(return_type: GraphQLOutputType) -> Returned:
    """What values of a type are answered as."""
    nullable = not isinstance(return_type, GraphQLNonNull)
    leaf = leaf_type_of(return_type)
    inner = get_nullable_type(return_type)
    item_type = inner.of_type if isinstance(inner, GraphQLList) else None
    kind = inner if item_type is None else get_nullable_type(item_type)
    if not isinstance(kind, GraphQLObjectType) or (origin := _origin(kind)) is None:
        return NOTHING_KNOWN._replace(nullable=nullable, leaf=leaf)
    return Returned(nullable, None, kind, origin, item_type)


def _origin(kind: GraphQLObjectType) -> type | None:
    """The class that objects of a type are of and nobody has to ask about; no object is given to `strawberry.cast`."""
    definition = kind.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryObjectDefinition) or definition.is_type_of:
        return None
    origin = definition.concrete_of.origin if definition.concrete_of else definition.origin
    return None if issubclass(origin, Exception) or hasattr(origin, "__await__") else origin
