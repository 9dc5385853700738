"""Which object type a value of a union or an interface is of, by its class alone.

Strawberry looks through all types of the schema for a member of a union, and asks each of an interface's for what it
may have been cast to: 6 to 12 µs for each object in Strawberry 0.341, of which a list of events has a hundred. Nothing
here is cast, and all types but those made of generic ones have a class of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graphql import GraphQLInterfaceType, GraphQLObjectType, GraphQLUnionType
from strawberry.types.base import StrawberryObjectDefinition

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graphql import GraphQLAbstractType, GraphQLSchema

_MEMBERS: Final = "packline-members"


def mark_members(schema: GraphQLSchema) -> None:
    """Find the classes of the objects of every union and interface; called once."""
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLUnionType | GraphQLInterfaceType):
            possible = ((_class_of(member), member) for member in schema.get_possible_types(kind))
            kind.extensions[_MEMBERS] = {origin: member for origin, member in possible if origin is not None}


def members_of(kind: GraphQLAbstractType) -> Mapping[type, GraphQLObjectType]:
    """The object types of a union or an interface by the class of their objects, once its schema has been marked."""
    found: Mapping[type, GraphQLObjectType] = kind.extensions.get(_MEMBERS, {})
    return found


def _class_of(kind: GraphQLObjectType) -> type | None:
    """The class whose objects are all of this type; None where objects have to be asked."""
    definition = kind.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryObjectDefinition) or definition.is_type_of or definition.concrete_of:
        return None
    return definition.origin
