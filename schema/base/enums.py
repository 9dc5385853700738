"""Registers enums from lower layers with the schema, with a description on every value."""

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

    Strawberry only adds an attribute to the class, so lower layers can keep using it.

    Args:
        enum_type: The enum; the API shows its member names, in upper case.
        description: Description of the enum.
        values: Descriptions by member name.
        name: Name in the schema; defaults to the name of the class.

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
