"""Prints enums that live below the schema with a description on every value, which the house rules ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import strawberry
from strawberry.types.enum import StrawberryEnumDefinition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import Enum

EnumT = TypeVar("EnumT", bound="type[Enum]")


def described_enum(enum_type: EnumT, description: str, values: Mapping[str, str], *, name: str | None = None) -> EnumT:
    """Register an enum with the schema and return it, for use in annotations.

    The class itself is unchanged but for Strawberry's mark, so rooms below the schema keep using it as it is.

    Args:
        enum_type: Values go over the wire by member name, upper case.
        description: Of the enum.
        values: A description for every member, by member name.
        name: In the schema; the class's own name when absent.

    Raises:
        ValueError: A member has no description, or a description has no member.
    """
    members = set(enum_type.__members__)
    if members != set(values):
        raise ValueError(f"{enum_type.__name__}: descriptions and members differ in {sorted(members ^ set(values))}")
    registered = strawberry.enum(enum_type, name=name, description=description)
    definition = registered.__strawberry_definition__  # type: ignore[attr-defined]
    if not isinstance(definition, StrawberryEnumDefinition):
        raise TypeError(f"{enum_type.__name__} is not an enum")
    for value in definition.values:
        value.description = values[value.name]
    return enum_type
