"""The public schema: current on disk, described throughout, and usable without aliases."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    GraphQLUnionType,
    build_schema,
    is_introspection_type,
    is_specified_directive,
    is_specified_scalar_type,
)

from schema.build import sdl

SDL_FILE = Path(__file__).parents[2] / "schema" / "schema.graphql"


@pytest.fixture(scope="module")
def text() -> str:
    return sdl()


@pytest.fixture(scope="module")
def schema(text: str) -> GraphQLSchema:
    return build_schema(text)


def test_the_file_is_current(text: str) -> None:
    assert SDL_FILE.read_text() == text, "run `python -m schema.build > schema/schema.graphql`"


def test_everything_has_a_description(schema: GraphQLSchema) -> None:
    bare: list[str] = []

    def look(name: str, thing: object) -> None:
        if not (getattr(thing, "description", None) or "").strip():
            bare.append(name)

    for name, kind in schema.type_map.items():
        if is_introspection_type(kind) or is_specified_scalar_type(kind):
            continue
        look(name, kind)
        if isinstance(kind, GraphQLEnumType):
            for value, member in kind.values.items():
                look(f"{name}.{value}", member)
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType | GraphQLInputObjectType):
            for field_name, field in kind.fields.items():
                look(f"{name}.{field_name}", field)
                for argument_name, argument in getattr(field, "args", {}).items():
                    look(f"{name}.{field_name}({argument_name})", argument)
    for directive in schema.directives:
        if is_specified_directive(directive):
            continue
        look(f"@{directive.name}", directive)
        for argument_name, argument in directive.args.items():
            look(f"@{directive.name}({argument_name})", argument)
    assert bare == []


def test_types_that_meet_never_give_one_field_name_two_types(schema: GraphQLSchema) -> None:
    clashes: set[str] = set()
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType):
            for one, other in combinations(schema.get_possible_types(kind), 2):
                for name in one.fields.keys() & other.fields.keys():
                    if str(one.fields[name].type) != str(other.fields[name].type):
                        clashes.add(f"{one.name}.{name}: {one.fields[name].type} and {other.name}'s is not")
    # A node's own fields differ in what may be absent; the interface itself is what clients select.
    allowed = {"Node"}
    real = {clash for clash in clashes if not _only_meet_as(schema, clash, allowed)}
    assert real == set()


def _only_meet_as(schema: GraphQLSchema, clash: str, allowed: set[str]) -> bool:
    """Whether the two types of a clash meet in nothing but one of these interfaces."""
    one = clash.partition(".")[0]
    other = clash.rpartition(" and ")[2].partition("'")[0]
    meeting = {
        kind.name
        for kind in schema.type_map.values()
        if isinstance(kind, GraphQLInterfaceType | GraphQLUnionType)
        and {one, other} <= {member.name for member in schema.get_possible_types(kind)}
    }
    return meeting <= allowed


def test_every_command_answers_a_union_whose_refusals_are_problems(schema: GraphQLSchema) -> None:
    assert schema.mutation_type is not None
    for name, field in schema.mutation_type.fields.items():
        # Nullable, so that one internal error does not null the answers next to it.
        result = field.type
        assert isinstance(result, GraphQLUnionType), name
        success, *refusals = result.types
        assert success.name.endswith("Success"), name
        assert all("Problem" in {interface.name for interface in refusal.interfaces} for refusal in refusals), name
        assert "ForbiddenProblem" in {refusal.name for refusal in refusals}, name


def test_lists_that_grow_are_connections(schema: GraphQLSchema) -> None:
    for kind in schema.type_map.values():
        if isinstance(kind, GraphQLObjectType) and kind.name.endswith("Connection"):
            assert kind.fields.keys() == {"edges", "nodes", "pageInfo", "totalCount"}, kind.name
