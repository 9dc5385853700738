"""Rules of the public schema for texts: there is one way to read a long one in parts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from graphql import GraphQLObjectType, get_named_type, is_introspection_type, is_object_type

from schema.build import build_schema

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLField, GraphQLSchema

PART = "TextPart"


@pytest.fixture(scope="module")
def schema() -> GraphQLSchema:
    return build_schema()._schema


def test_a_text_is_read_in_parts_by_the_same_arguments_and_result(schema: GraphQLSchema) -> None:
    found = 0
    for path, field in fields_of(schema):
        kind = get_named_type(field.type)
        is_part = isinstance(kind, GraphQLObjectType) and PART in {each.name for each in kind.interfaces}
        assert is_part == ("offset" in field.args), path
        if is_part:
            found += 1
            assert list(field.args)[-2:] == ["offset", "limitBytes"], path
            assert str(field.args["offset"].type) == "Long!", path
            assert field.args["offset"].default_value == 0, path
    assert found > 0


def test_a_type_with_a_next_offset_is_part_of_a_text(schema: GraphQLSchema) -> None:
    others = [
        kind.name
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLObjectType)
        and any("offset" in name.casefold() for name in kind.fields)
        and PART not in {each.name for each in kind.interfaces}
    ]
    assert others == []


def test_lengths_are_limited_in_bytes_and_the_limit_has_a_default_and_a_range(schema: GraphQLSchema) -> None:
    found = 0
    for path, field in fields_of(schema):
        for name, given in field.args.items():
            if not re.search(r"limit|length|characters|bytes", name, re.IGNORECASE):
                continue
            found += 1
            assert (name, str(given.type)) == ("limitBytes", "Int!"), path
            assert isinstance(given.default_value, int), path
            assert re.search(r"in bytes; 1 to \d+\.$", given.description or ""), path
    assert found > 0


def fields_of(schema: GraphQLSchema) -> Iterator[tuple[str, GraphQLField]]:
    for kind in schema.type_map.values():
        if is_object_type(kind) and not is_introspection_type(kind):
            yield from ((f"{kind.name}.{name}", field) for name, field in kind.fields.items())
